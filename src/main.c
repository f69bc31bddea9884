// SPDX-License-Identifier: Apache-2.0
/* sluiced: a message broker that speaks the Kafka protocol. */

#include <stdio.h>

#include "broker.h"
#include "error.h"
#include "signals.h"
#include "std_files.h"
#include "trace_output.h"

extern char **environ;

int main(int argc, char **argv)
{
    struct config config;
    enum config_action action;
    char why[512] = "";
    if (std_files_open() != 0 || signals_hold_reload() != 0)
        return 1; /* Nobody could be told why. */
    if (config_load(&config, argc, argv, environ, &action, why, sizeof why) != 0) {
        fprintf(stderr, "sluiced: %s\n", why);
        return 2;
    }
    struct broker *broker = NULL;
    int err = action == CONFIG_EXIT_PROBLEMS ? ERR_USAGE : 0;
    if (action == CONFIG_RUN) {
        err = trace_output_apply(&config);
        if (err == 0) config_tell_warnings(&config);
        if (err == 0) err = broker_open(&broker, &config);
        if (err == 0) err = broker_run(broker); /* Returns after SIGTERM. */
        broker_close(broker);
    }
    config_close(&config);
    return err == 0 ? 0 : 1;
}
