// SPDX-License-Identifier: Apache-2.0
#include "api_versions.h"

#include "field_macros.h"

/* clang-format off */

#define OWNER struct api_versions_request
static const struct field api_versions_request_fields[] = {
    FIELD(client_software_name,    "clientSoftwareName",    3, 5, STRING, IGNORABLE),
    FIELD(client_software_version, "clientSoftwareVersion", 3, 5, STRING, IGNORABLE),
    FIELD(cluster_id,              "clusterId",             5, 5, STRING, NULLABLE(5, 5), DEFAULT_NULL, IGNORABLE),
    FIELD(node_id,                 "nodeId",                5, 5, INT32, DEFAULT(-1), IGNORABLE),
};
#undef OWNER
const struct message_shape api_versions_request_shape =
    MESSAGE(api_versions_request, "ApiVersionsRequest", 0, 5, 3);

#define OWNER struct api_versions_response_api_key
static const struct field api_versions_response_api_key_fields[] = {
    FIELD(api_key,     "apiKey",     0, 5, INT16),
    FIELD(min_version, "minVersion", 0, 5, INT16),
    FIELD(max_version, "maxVersion", 0, 5, INT16),
};
#undef OWNER
const struct shape api_versions_response_api_key_shape = SHAPE(api_versions_response_api_key);

#define OWNER struct api_versions_response_supported_feature
static const struct field api_versions_response_supported_feature_fields[] = {
    FIELD(name,        "name",       3, 5, STRING),
    FIELD(min_version, "minVersion", 3, 5, INT16),
    FIELD(max_version, "maxVersion", 3, 5, INT16),
};
#undef OWNER
const struct shape api_versions_response_supported_feature_shape =
    SHAPE(api_versions_response_supported_feature);

#define OWNER struct api_versions_response_finalized_feature
static const struct field api_versions_response_finalized_feature_fields[] = {
    FIELD(name,              "name",            3, 5, STRING),
    FIELD(max_version_level, "maxVersionLevel", 3, 5, INT16),
    FIELD(min_version_level, "minVersionLevel", 3, 5, INT16),
};
#undef OWNER
const struct shape api_versions_response_finalized_feature_shape =
    SHAPE(api_versions_response_finalized_feature);

#define OWNER struct api_versions_response
static const struct field api_versions_response_fields[] = {
    FIELD(  error_code,               "errorCode",              0, 5, INT16),
    STRUCTS(api_keys,                 "apiKeys",                0, 5, api_versions_response_api_key),
    FIELD(  throttle_time_ms,         "throttleTimeMs",         1, 5, INT32, IGNORABLE),
    STRUCTS(supported_features,       "supportedFeatures",      3, 5, api_versions_response_supported_feature, TAGGED(0, 3, 5), IGNORABLE),
    FIELD(  finalized_features_epoch, "finalizedFeaturesEpoch", 3, 5, INT64, TAGGED(1, 3, 5), DEFAULT(-1), IGNORABLE),
    STRUCTS(finalized_features,       "finalizedFeatures",      3, 5, api_versions_response_finalized_feature, TAGGED(2, 3, 5), IGNORABLE),
    FIELD(  zk_migration_ready,       "zkMigrationReady",       3, 5, BOOL, TAGGED(3, 3, 5), IGNORABLE),
};
#undef OWNER
const struct message_shape api_versions_response_shape =
    MESSAGE(api_versions_response, "ApiVersionsResponse", 0, 5, 3);
