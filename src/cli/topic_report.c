// SPDX-License-Identifier: Apache-2.0
#include "topic_report.h"

#include "error.h"
#include "output.h"

void topic_complain(struct str name, const char *failure, int16_t error_code, struct str message)
{
    enum err err = error_from_kafka_code(error_code);
    if (err == ERR_UNKNOWN_TOPIC_OR_PARTITION)
        output_complain("topic '%.*s' %s: it does not exist", name.length, name.data, failure);
    else if (message.length > 0)
        output_complain("topic '%.*s' %s: %.*s", name.length, name.data, failure, message.length,
                        message.data);
    else
        output_complain("topic '%.*s' %s: %s", name.length, name.data, failure, error_text(err));
    switch (err) {
    case ERR_UNKNOWN_TOPIC_OR_PARTITION: output_hint("see: sluice topic list"); break;
    case ERR_TOPIC_ALREADY_EXISTS:
    case ERR_INVALID_PARTITIONS:
        output_hint("see: sluice topic describe %.*s", name.length, name.data);
        break;
    case ERR_INVALID_TOPIC:
        output_hint("a name has 1 to 249 letters, digits, dots, dashes and underscores");
        break;
    case ERR_INVALID_REPLICATION_FACTOR:
        output_hint(
            "there are not that many brokers; leave --replication-factor out for the default");
        break;
    case ERR_POLICY_VIOLATION:
        output_hint("take smaller steps; partitions are added with: sluice topic alter %.*s "
                    "--partitions N",
                    name.length, name.data);
        break;
    case ERR_INVALID_CONFIG:
        output_hint("the settings that a topic has: sluice config get --topic NAME --explain");
        break;
    case ERR_REQUEST_TIMED_OUT:
        output_hint("it may happen yet; see: sluice topic describe %.*s", name.length, name.data);
        break;
    default: break;
    }
}

void topic_report_begin(struct topic_report *report, bool as_json)
{
    *report = (struct topic_report){ as_json, as_json ? json_array() : NULL, STATUS_OK };
}

static const char *error_sentence(int16_t error_code)
{
    return error_text(error_from_kafka_code(error_code));
}

json_t *topic_report_add(struct topic_report *report, struct str name, const char *failure,
                         int16_t error_code, struct str message)
{
    if (error_code != 0) {
        topic_complain(name, failure, error_code, message);
        report->status = STATUS_FAILED;
    }
    if (!report->as_json) return NULL;
    struct str error = error_code == 0      ? STR_NULL
                       : message.length > 0 ? message
                                            : str_from(error_sentence(error_code));
    json_t *object = json_object();
    if (json_array_append_new(report->array, object) == 0 &&
        json_set_bytes(object, "name", name.data, name.length) == 0 &&
        json_set_bytes(object, "error", error.data, error.length) == 0)
        return object;
    json_decref(report->array);
    report->array = NULL;
    return NULL;
}

enum status topic_report_end(struct topic_report *report)
{
    int err = report->as_json ? json_print(report->array, true, stdout) : 0;
    if (err == ERR_NO_MEMORY) output_complain("%s", error_text(err));
    return output_finish() == 0 && err == 0 ? report->status : STATUS_FAILED;
}
