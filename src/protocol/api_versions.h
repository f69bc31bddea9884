// SPDX-License-Identifier: Apache-2.0
/* ApiVersions (key 18): which APIs, versions and features a broker offers. */

#ifndef PROTOCOL_API_VERSIONS_H
#define PROTOCOL_API_VERSIONS_H

#include "codec.h"

struct api_versions_request {
    struct str client_software_name;
    struct str client_software_version;
    struct str cluster_id;
    int32_t node_id;
};

struct api_versions_response_api_key {
    int16_t api_key;
    int16_t min_version;
    int16_t max_version;
};

struct api_versions_response_supported_feature {
    struct str name;
    int16_t min_version;
    int16_t max_version;
};

struct api_versions_response_finalized_feature {
    struct str name;
    int16_t max_version_level;
    int16_t min_version_level;
};

struct api_versions_response {
    int16_t error_code;
    ARRAY_OF(struct api_versions_response_api_key) api_keys;
    int32_t throttle_time_ms;
    ARRAY_OF(struct api_versions_response_supported_feature) supported_features;
    int64_t finalized_features_epoch;
    ARRAY_OF(struct api_versions_response_finalized_feature) finalized_features;
    bool zk_migration_ready;
};

extern const struct shape api_versions_response_api_key_shape;
extern const struct shape api_versions_response_supported_feature_shape;
extern const struct shape api_versions_response_finalized_feature_shape;
extern const struct message_shape api_versions_request_shape, api_versions_response_shape;

#endif
