// SPDX-License-Identifier: Apache-2.0
/* The bytes of files: in the page cache, on the disk, and what a power cut makes of the two. */

#include <stdlib.h>
#include <string.h>

#include "fs_sim_inside.h"

/* ---- blocks ---- */

static struct sim_block *keep_block(struct sim_block *block)
{
    if (block != NULL) atomic_fetch_add(&block->references, 1);
    return block;
}

static void release_block(struct sim_block *block)
{
    if (block != NULL && atomic_fetch_sub(&block->references, 1) == 1) free(block);
}

static void set_block(struct sim_block **at, struct sim_block *block)
{
    struct sim_block *old = *at;

    *at = keep_block(block);
    release_block(old);
}

/* A block of its own, to be written to. */
static struct sim_block *own_block(struct sim_block **at)
{
    struct sim_block *old = *at;

    if (old != NULL && atomic_load(&old->references) == 1) return old;
    struct sim_block *block = sim_realloc(NULL, sizeof *block);
    atomic_init(&block->references, 1);
    if (old == NULL)
        memset(block->bytes, 0, SIM_BLOCK);
    else
        memcpy(block->bytes, old->bytes, SIM_BLOCK);
    release_block(old);
    *at = block;
    return block;
}

/* ---- pages ---- */

/* Blocks of the disk that a page takes: none before it is written or reserved. */
static bool takes_room(const struct sim_page *page)
{
    return page->now != NULL || page->is_reserved;
}

static void need_pages(struct sim_node *file, size_t count)
{
    if (count <= file->page_count) return;
    if (count > file->page_capacity) {
        file->page_capacity = count < 8 ? 8 : count * 2;
        file->pages = sim_realloc(file->pages, file->page_capacity * sizeof *file->pages);
    }
    memset(file->pages + file->page_count, 0, (count - file->page_count) * sizeof *file->pages);
    file->page_count = count;
}

static bool take_room(struct fs_sim *sim, const struct sim_page *page)
{
    if (takes_room(page)) return true;
    if (sim->total_bytes > 0 && (sim->used_blocks + 1) * SIM_BLOCK > sim->total_bytes) return false;
    sim->used_blocks++;
    return true;
}

static size_t pages_of(int64_t size)
{
    return (size_t)((size + SIM_BLOCK - 1) / SIM_BLOCK);
}

/* ---- nodes ---- */

struct sim_node *sim_node_new(struct fs_sim *sim, bool is_folder)
{
    struct sim_node *node = sim_realloc(NULL, sizeof *node);

    memset(node, 0, sizeof *node);
    node->references = 1;
    node->is_folder = is_folder;
    node->next = sim->nodes;
    if (sim->nodes != NULL) sim->nodes->previous = node;
    sim->nodes = node;
    return node;
}

struct sim_node *sim_node_keep(struct sim_node *node)
{
    node->references++;
    return node;
}

void sim_node_release(struct fs_sim *sim, struct sim_node *node)
{
    if (node == NULL || --node->references > 0) return;
    if (node->previous != NULL)
        node->previous->next = node->next;
    else
        sim->nodes = node->next;
    if (node->next != NULL) node->next->previous = node->previous;
    for (size_t i = 0; i < node->page_count; i++) {
        if (takes_room(&node->pages[i])) sim->used_blocks--;
        release_block(node->pages[i].now);
        release_block(node->pages[i].disk);
    }
    free(node->pages);
    sim_names_close(sim, &node->now);
    sim_names_close(sim, &node->disk);
    free(node);
}

void sim_copy_data(struct sim_node *to, const struct sim_node *from)
{
    need_pages(to, from->page_count);
    for (size_t i = 0; i < from->page_count; i++) {
        to->pages[i] = from->pages[i];
        keep_block(to->pages[i].now);
        keep_block(to->pages[i].disk);
    }
    to->size = from->size;
    to->disk_size = from->disk_size;
    to->size_is_dirty = from->size_is_dirty;
}

/* ---- what a file is asked to do ---- */

size_t sim_read(const struct sim_node *file, void *to, size_t length, int64_t offset)
{
    size_t done = 0;

    if (offset >= file->size) return 0;
    if ((int64_t)length > file->size - offset) length = (size_t)(file->size - offset);
    while (done < length) {
        size_t at = (size_t)(offset + (int64_t)done) % SIM_BLOCK;
        size_t page = (size_t)(offset + (int64_t)done) / SIM_BLOCK;
        size_t part = length - done < SIM_BLOCK - at ? length - done : SIM_BLOCK - at;
        const struct sim_block *block = page < file->page_count ? file->pages[page].now : NULL;
        if (block == NULL)
            memset((uint8_t *)to + done, 0, part);
        else
            memcpy((uint8_t *)to + done, block->bytes + at, part);
        done += part;
    }
    return length;
}

static void set_size(struct sim_node *file, int64_t size)
{
    file->size = size;
    file->size_is_dirty = true;
}

size_t sim_write(struct fs_sim *sim, struct sim_node *file, const void *from, size_t length,
                 int64_t offset)
{
    size_t done = 0;

    need_pages(file, pages_of(offset + (int64_t)length));
    while (done < length) {
        size_t at = (size_t)(offset + (int64_t)done) % SIM_BLOCK;
        size_t part = length - done < SIM_BLOCK - at ? length - done : SIM_BLOCK - at;
        struct sim_page *page = &file->pages[(size_t)(offset + (int64_t)done) / SIM_BLOCK];
        if (!take_room(sim, page)) break;
        memcpy(own_block(&page->now)->bytes + at, (const uint8_t *)from + done, part);
        page->is_dirty = true;
        done += part;
    }
    if (done > 0 && offset + (int64_t)done > file->size) set_size(file, offset + (int64_t)done);
    /* Also where the file is as long already, but a sync failed: with its blocks the size goes out. */
    if (done > 0 && offset + (int64_t)done > file->disk_size) file->size_is_dirty = true;
    return done;
}

void sim_truncate(struct fs_sim *sim, struct sim_node *file, int64_t size)
{
    size_t kept = pages_of(size);

    /* What is reserved behind the end goes too, also if the size stays. */
    for (size_t i = kept; i < file->page_count; i++) {
        struct sim_page *page = &file->pages[i];
        if (takes_room(page)) sim->used_blocks--;
        set_block(&page->now, NULL);
        page->is_reserved = false;
        page->is_dirty = page->disk != NULL;
    }
    if (size < file->size && size % SIM_BLOCK != 0 && file->pages[kept - 1].now != NULL) {
        struct sim_page *last = &file->pages[kept - 1];
        memset(own_block(&last->now)->bytes + size % SIM_BLOCK, 0,
               SIM_BLOCK - (size_t)(size % SIM_BLOCK));
        last->is_dirty = true;
    }
    if (size != file->size) set_size(file, size);
}

bool sim_reserve(struct fs_sim *sim, struct sim_node *file, int64_t offset, int64_t length)
{
    need_pages(file, pages_of(offset + length));
    for (size_t i = (size_t)(offset / SIM_BLOCK); i < pages_of(offset + length); i++) {
        if (!take_room(sim, &file->pages[i])) return false;
        file->pages[i].is_reserved = true;
    }
    return true;
}

void sim_sync(struct fs_sim *sim, struct sim_node *file, unsigned percent)
{
    for (size_t i = 0; i < file->page_count; i++) {
        struct sim_page *page = &file->pages[i];
        if (!page->is_dirty) continue;
        page->is_dirty = false;
        if (sim_percent(sim, percent)) {
            set_block(&page->disk, page->now);
        } else if (sim_percent(sim, 50) && page->now != NULL && page->disk != NULL) {
            set_block(&page->now, page->disk); /* Thrown out of the cache, and read again. */
        }
    }
    if (file->size_is_dirty && sim_percent(sim, percent)) file->disk_size = file->size;
    file->size_is_dirty = file->size < file->disk_size; /* By (4). */
}

/* ---- power cuts ---- */

/* Some sectors of the new block, some of the old one. */
static void tear(struct fs_sim *sim, struct sim_page *page)
{
    static const uint8_t zeros[SIM_SECTOR];
    const struct sim_block *old = page->disk;
    /* Mostly it got up to some sector; sometimes any were written. */
    bool is_prefix = sim_percent(sim, 70);
    size_t until = 1 + sim_chance(sim) % (SIM_BLOCK / SIM_SECTOR - 1);

    uint8_t *bytes = own_block(&page->now)->bytes;
    for (size_t i = 0; i < SIM_BLOCK / SIM_SECTOR; i++) {
        if (is_prefix ? i < until : sim_percent(sim, 50)) continue;
        memcpy(bytes + i * SIM_SECTOR, old == NULL ? zeros : old->bytes + i * SIM_SECTOR,
               SIM_SECTOR);
    }
}

static int64_t settled_size(struct fs_sim *sim, const struct sim_node *file, unsigned percent)
{
    if (file->size == file->disk_size) return file->size;
    if (!file->size_is_dirty) return file->disk_size; /* By (4). */
    if (file->size > file->disk_size && percent > 0 && percent < 100 && sim_percent(sim, 40))
        return file->disk_size +
               (int64_t)(sim_chance(sim) % (uint64_t)(file->size - file->disk_size));
    return sim_percent(sim, percent) ? file->size : file->disk_size;
}

void sim_settle_file(struct fs_sim *sim, struct sim_node *file, unsigned percent)
{
    int64_t size = settled_size(sim, file, percent);
    size_t cut_from = pages_of(file->size);

    for (size_t i = 0; i < file->page_count; i++) {
        struct sim_page *page = &file->pages[i];
        /* A truncation that was undone took nothing away. */
        bool is_undone = i >= cut_from && size > file->size;
        bool had_room = takes_room(page);
        if (page->now != page->disk) {
            bool is_kept = page->is_dirty && !is_undone && sim_percent(sim, percent);
            bool is_torn = page->is_dirty && !is_undone && percent > 0 && percent < 100 &&
                           sim_percent(sim, 25) && page->now != NULL;
            if (is_torn)
                tear(sim, page);
            else if (!is_kept)
                set_block(&page->now, page->disk);
            set_block(&page->disk, page->now);
        }
        page->is_dirty = false;
        sim->used_blocks += (int)takes_room(page) - (int)had_room;
    }
    /* Whatever lies behind the end is not seen if the file grows again, but what is reserved stays. */
    for (size_t i = pages_of(size); i < file->page_count; i++) {
        struct sim_page *page = &file->pages[i];
        bool had_room = takes_room(page);
        set_block(&page->now, NULL);
        set_block(&page->disk, NULL);
        sim->used_blocks += (int)takes_room(page) - (int)had_room;
    }
    if (size % SIM_BLOCK != 0 && pages_of(size) <= file->page_count) {
        struct sim_page *last = &file->pages[pages_of(size) - 1];
        if (last->now != NULL) {
            memset(own_block(&last->now)->bytes + size % SIM_BLOCK, 0,
                   SIM_BLOCK - (size_t)(size % SIM_BLOCK));
            set_block(&last->disk, last->now);
        }
    }
    file->size = file->disk_size = size;
    file->size_is_dirty = false;
}
