// SPDX-License-Identifier: Apache-2.0
/* The scripts that teach a shell to ask complete_words(). */

#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "complete.h"
#include "output.h"

/* Bash takes words apart at : and =, so the line is read again. */
static const char bash_script[] = "# bash completion of sluice: made by `sluice completion bash`\n"
                                  "_sluice()\n"
                                  "{\n"
                                  "    local line=${COMP_LINE:0:COMP_POINT} words candidate\n"
                                  "    read -ra words <<<\"$line\"\n"
                                  "    [[ $line != *[[:space:]] ]] || words+=('')\n"
                                  "    COMPREPLY=()\n"
                                  "    while IFS= read -r candidate; do\n"
                                  "        if [ \"$candidate\" = " COMPLETE_FILES " ]; then\n"
                                  "            compopt -o filenames\n"
                                  "            while IFS= read -r candidate; do\n"
                                  "                COMPREPLY+=(\"$candidate\")\n"
                                  "            done < <(compgen -f -- \"${words[-1]}\")\n"
                                  "        else\n"
                                  "            COMPREPLY+=(\"${candidate%%$'\\t'*}\")\n"
                                  "        fi\n"
                                  "    done < <(\"$1\" " COMPLETE_WORD
                                  " \"${words[@]:1}\" 2>/dev/null)\n"
                                  "}\n"
                                  "complete -F _sluice sluice\n";

static const char zsh_script[] =
    "#compdef sluice\n"
    "# zsh completion of sluice: made by `sluice completion zsh`\n"
    "_sluice()\n"
    "{\n"
    "    local -a candidates end\n"
    "    local candidate\n"
    "    for candidate in \"${(@f)$(\"${words[1]}\" " COMPLETE_WORD
    " \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
    "        if [[ $candidate == " COMPLETE_FILES " ]]; then\n"
    "            _files\n"
    "        elif [[ -n $candidate ]]; then\n"
    "            candidate=${candidate//:/\\\\:}\n"
    "            [[ $candidate != *= ]] || end=(-S '')\n"
    "            candidates+=(\"${candidate/$'\\t'/:}\")\n"
    "        fi\n"
    "    done\n"
    "    (( $#candidates == 0 )) || _describe sluice candidates \"${(@)end}\"\n"
    "}\n"
    "if [[ ${funcstack[1]:-} == _sluice ]]; then _sluice; else compdef _sluice sluice; fi\n";

static const char fish_script[] =
    "# fish completion of sluice: made by `sluice completion fish`\n"
    "function __sluice_complete\n"
    "    set -l words (commandline -opc)\n"
    "    $words[1] " COMPLETE_WORD " $words[2..-1] (commandline -ct) 2>/dev/null\n"
    "end\n"
    "complete -c sluice -f\n"
    "complete -c sluice -n '__sluice_complete | string match -q -- " COMPLETE_FILES "' -F\n"
    "complete -c sluice -a '(__sluice_complete | string match -v -- " COMPLETE_FILES ")'\n";

static enum status run_completion(const void *given, const struct operands *operands)
{
    (void)given;
    const char *shell = operands->items[0];
    const char *script = strcmp(shell, "bash") == 0   ? bash_script
                         : strcmp(shell, "zsh") == 0  ? zsh_script
                         : strcmp(shell, "fish") == 0 ? fish_script
                                                      : NULL;
    if (script == NULL) {
        output_complain("there are completions for bash, zsh and fish, not for '%s'", shell);
        output_hint("see: sluice completion --help");
        return STATUS_USAGE;
    }
    fputs(script, stdout);
    return output_finish() == 0 ? STATUS_OK : STATUS_FAILED;
}

const struct command completion_command = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .operands_are_words = true,
    .least_operands = 1,
    .most_operands = 1,
    .summary = "Print what makes a shell complete sluice's commands",
    .about = "Commands, options, their values, files, and the topics and settings of the broker, "
             "which is asked.\n",
    .example = "  source <(sluice completion bash)                  # this shell; or in ~/.bashrc\n"
               "  sluice completion zsh >~/.zfunc/_sluice           # a folder of $fpath\n"
               "  sluice completion fish >~/.config/fish/completions/sluice.fish\n",
    .settings_size = sizeof(struct common_settings),
    .run = run_completion,
};
