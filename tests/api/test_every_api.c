// SPDX-License-Identifier: Apache-2.0
/* What holds for the answers of every API alike. */

#include "api_calls.h"
#include "wire_shapes.h"

/* The field that says how long a client is to wait; NULL: this version has none. */
static const struct field *throttle_time(const struct message_shape *response, int16_t version)
{
    for (unsigned i = 0; i < response->shape.field_count; i++) {
        const struct field *field = &response->shape.fields[i];
        if (strcmp(field->name, "throttleTimeMs") == 0 && versions_hold(field->present, version))
            return field;
    }
    return NULL;
}

/* One that is answered, be it with an error. */
static void *some_request(struct test_client *client, const struct wire_api *api)
{
    void *request = client_alloc(client, 1, api->request->shape.size);
    message_defaults(api->request, request);
    if (api->key == PRODUCE) ((struct produce_request *)request)->acks = 1; /* Of 0 nobody hears. */
    return request;
}

/* How many versions of an API tell of it. */
static unsigned check_throttle_time(struct test_client *client, const struct wire_api *api)
{
    struct versions versions = api->response->versions;
    unsigned count = 0;
    for (int16_t version = versions.first; version <= versions.last; version++) {
        const struct field *field = throttle_time(api->response, version);
        if (field == NULL) continue;
        void *response = client_alloc(client, 1, api->response->shape.size);
        client_call(client, (enum api_key)api->key, version, some_request(client, api), response);
        int32_t time_ms;
        memcpy(&time_ms, (const char *)response + field->offset, sizeof time_ms);
        if (time_ms != 0) fail_msg("%s version %d: %d ms", api->response->name, version, time_ms);
        count++;
    }
    return count;
}

TEST(nobody_is_throttled_in_any_version_of_any_api)
{
    struct test_client *client = client_open(shared_broker_port());
    struct api_versions_request request;
    struct api_versions_response told;
    message_defaults(&api_versions_request_shape, &request);
    client_call(client, API_VERSIONS, 0, &request, &told);
    unsigned apis = 0;
    for (int32_t i = 0; i < told.api_keys.count; i++) {
        const struct wire_api *api = wire_api_by_key(told.api_keys.items[i].api_key);
        if (api == NULL && shared_broker_is_foreign()) continue;
        assert_non_null(api);
        if (check_throttle_time(client, api) > 0) apis++;
    }
    assert_int_equal(apis, wire_api_count);
    client_close(client);
}
