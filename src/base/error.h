// SPDX-License-Identifier: Apache-2.0
/* Every error: our name, the code that a Kafka client gets, the sentence for people.
 *
 * Names that are Kafka's carry Kafka's code. Those at the end are our own; a client that meets one
 * gets UNKNOWN_SERVER_ERROR (-1) unless the API maps it to something better first. */

#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdint.h>

/* clang-format off */
#define ERROR_TABLE(ROW) \
    ROW(ERR_UNKNOWN_SERVER_ERROR, -1, "the server met an error that it did not expect")                       \
    ROW(ERR_OFFSET_OUT_OF_RANGE, 1, "the offset lies outside of the log")                                     \
    ROW(ERR_CORRUPT_MESSAGE, 2, "the batch is corrupt or its CRC does not match")                             \
    ROW(ERR_UNKNOWN_TOPIC_OR_PARTITION, 3, "this broker does not host that topic or partition")               \
    ROW(ERR_INVALID_FETCH_SIZE, 4, "the requested fetch size is invalid")                                     \
    ROW(ERR_LEADER_NOT_AVAILABLE, 5, "there is no leader for that partition yet")                             \
    ROW(ERR_NOT_LEADER_OR_FOLLOWER, 6, "this broker does not lead the partition")                             \
    ROW(ERR_REQUEST_TIMED_OUT, 7, "the request timed out")                                                    \
    ROW(ERR_BROKER_NOT_AVAILABLE, 8, "the broker is not available")                                           \
    ROW(ERR_REPLICA_NOT_AVAILABLE, 9, "the replica is not available")                                         \
    ROW(ERR_MESSAGE_TOO_LARGE, 10, "the batch is larger than max.message.bytes allows")                       \
    ROW(ERR_STALE_CONTROLLER_EPOCH, 11, "the controller epoch is stale")                                      \
    ROW(ERR_OFFSET_METADATA_TOO_LARGE, 12, "the offset's metadata is too large")                              \
    ROW(ERR_NETWORK, 13, "the connection was lost")                                                           \
    ROW(ERR_COORDINATOR_LOAD_IN_PROGRESS, 14, "the coordinator is loading")                                   \
    ROW(ERR_COORDINATOR_NOT_AVAILABLE, 15, "the coordinator is not available")                                \
    ROW(ERR_NOT_COORDINATOR, 16, "this broker is not the coordinator")                                        \
    ROW(ERR_INVALID_TOPIC, 17, "the topic name is not legal")                                                 \
    ROW(ERR_RECORD_LIST_TOO_LARGE, 18, "the batch is larger than a segment")                                  \
    ROW(ERR_NOT_ENOUGH_REPLICAS, 19, "fewer replicas are in sync than min.insync.replicas asks for")          \
    ROW(ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, 20, "written, but fewer replicas are in sync than asked for")   \
    ROW(ERR_INVALID_REQUIRED_ACKS, 21, "acks must be 0, 1 or -1")                                             \
    ROW(ERR_ILLEGAL_GENERATION, 22, "the group generation is not current")                                    \
    ROW(ERR_INCONSISTENT_GROUP_PROTOCOL, 23, "the member's protocols do not fit the group's")                 \
    ROW(ERR_INVALID_GROUP_ID, 24, "the group id is not legal")                                                \
    ROW(ERR_UNKNOWN_MEMBER_ID, 25, "the group does not know that member")                                     \
    ROW(ERR_INVALID_SESSION_TIMEOUT, 26, "the session timeout is out of bounds")                              \
    ROW(ERR_REBALANCE_IN_PROGRESS, 27, "the group is rebalancing")                                            \
    ROW(ERR_INVALID_COMMIT_OFFSET_SIZE, 28, "the offset commit is too large")                                 \
    ROW(ERR_TOPIC_AUTHORIZATION_FAILED, 29, "not authorized for that topic")                                  \
    ROW(ERR_GROUP_AUTHORIZATION_FAILED, 30, "not authorized for that group")                                  \
    ROW(ERR_CLUSTER_AUTHORIZATION_FAILED, 31, "not authorized for the cluster")                               \
    ROW(ERR_INVALID_TIMESTAMP, 32, "the record's timestamp is out of bounds")                                 \
    ROW(ERR_UNSUPPORTED_SASL_MECHANISM, 33, "the SASL mechanism is not enabled")                              \
    ROW(ERR_ILLEGAL_SASL_STATE, 34, "the request does not fit the state of authentication")                   \
    ROW(ERR_UNSUPPORTED_VERSION, 35, "the version of that API is not supported")                              \
    ROW(ERR_TOPIC_ALREADY_EXISTS, 36, "a topic of that name exists")                                          \
    ROW(ERR_INVALID_PARTITIONS, 37, "the number of partitions is not legal")                                  \
    ROW(ERR_INVALID_REPLICATION_FACTOR, 38, "the replication factor is not legal")                            \
    ROW(ERR_INVALID_REPLICA_ASSIGNMENT, 39, "the replica assignment is not legal")                            \
    ROW(ERR_INVALID_CONFIG, 40, "the configuration is not legal")                                             \
    ROW(ERR_NOT_CONTROLLER, 41, "this broker is not the controller")                                          \
    ROW(ERR_INVALID_REQUEST, 42, "the request is not legal")                                                  \
    ROW(ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, 43, "the message format does not support that")                   \
    ROW(ERR_POLICY_VIOLATION, 44, "a policy forbids that")                                                    \
    ROW(ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, 45, "the producer's sequence number is out of order")               \
    ROW(ERR_DUPLICATE_SEQUENCE_NUMBER, 46, "the producer's sequence number was seen before")                  \
    ROW(ERR_INVALID_PRODUCER_EPOCH, 47, "the producer's epoch is stale")                                      \
    ROW(ERR_INVALID_TXN_STATE, 48, "the transaction is not in a state that allows that")                      \
    ROW(ERR_INVALID_PRODUCER_ID_MAPPING, 49, "the producer id is not the one of that transactional id")       \
    ROW(ERR_INVALID_TRANSACTION_TIMEOUT, 50, "the transaction timeout is out of bounds")                      \
    ROW(ERR_CONCURRENT_TRANSACTIONS, 51, "another operation of that transaction is running")                  \
    ROW(ERR_TRANSACTION_COORDINATOR_FENCED, 52, "the transaction coordinator is stale")                       \
    ROW(ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 53, "not authorized for that transactional id")            \
    ROW(ERR_SECURITY_DISABLED, 54, "security features are disabled")                                          \
    ROW(ERR_OPERATION_NOT_ATTEMPTED, 55, "the operation was not attempted")                                   \
    ROW(ERR_KAFKA_STORAGE_ERROR, 56, "the disk that holds the log failed")                                    \
    ROW(ERR_LOG_DIR_NOT_FOUND, 57, "the log directory does not exist")                                        \
    ROW(ERR_SASL_AUTHENTICATION_FAILED, 58, "authentication failed")                                          \
    ROW(ERR_UNKNOWN_PRODUCER_ID, 59, "nothing is known of that producer id")                                  \
    ROW(ERR_REASSIGNMENT_IN_PROGRESS, 60, "a reassignment is running")                                        \
    ROW(ERR_DELEGATION_TOKEN_AUTH_DISABLED, 61, "delegation tokens are disabled")                             \
    ROW(ERR_DELEGATION_TOKEN_NOT_FOUND, 62, "the delegation token does not exist")                            \
    ROW(ERR_DELEGATION_TOKEN_OWNER_MISMATCH, 63, "the delegation token has another owner")                    \
    ROW(ERR_DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, 64, "delegation tokens are not allowed here")               \
    ROW(ERR_DELEGATION_TOKEN_AUTHORIZATION_FAILED, 65, "not authorized for that delegation token")            \
    ROW(ERR_DELEGATION_TOKEN_EXPIRED, 66, "the delegation token has expired")                                 \
    ROW(ERR_INVALID_PRINCIPAL_TYPE, 67, "the principal type is not legal")                                    \
    ROW(ERR_NON_EMPTY_GROUP, 68, "the group is not empty")                                                    \
    ROW(ERR_GROUP_ID_NOT_FOUND, 69, "the group does not exist")                                               \
    ROW(ERR_FETCH_SESSION_ID_NOT_FOUND, 70, "the fetch session does not exist")                               \
    ROW(ERR_INVALID_FETCH_SESSION_EPOCH, 71, "the fetch session epoch is not the expected one")               \
    ROW(ERR_LISTENER_NOT_FOUND, 72, "the leader has no such listener")                                        \
    ROW(ERR_TOPIC_DELETION_DISABLED, 73, "deleting topics is disabled")                                       \
    ROW(ERR_FENCED_LEADER_EPOCH, 74, "the leader epoch is older than the broker's")                           \
    ROW(ERR_UNKNOWN_LEADER_EPOCH, 75, "the leader epoch is newer than the broker's")                          \
    ROW(ERR_UNSUPPORTED_COMPRESSION_TYPE, 76, "the compression codec is not supported here")                  \
    ROW(ERR_STALE_BROKER_EPOCH, 77, "the broker epoch is stale")                                              \
    ROW(ERR_OFFSET_NOT_AVAILABLE, 78, "the offset is not available yet")                                      \
    ROW(ERR_MEMBER_ID_REQUIRED, 79, "the member must join again with the id that it was given")               \
    ROW(ERR_PREFERRED_LEADER_NOT_AVAILABLE, 80, "the preferred leader is not available")                      \
    ROW(ERR_GROUP_MAX_SIZE_REACHED, 81, "the group is full")                                                  \
    ROW(ERR_FENCED_INSTANCE_ID, 82, "another member uses that instance id")                                   \
    ROW(ERR_ELIGIBLE_LEADERS_NOT_AVAILABLE, 83, "no eligible leader is available")                            \
    ROW(ERR_ELECTION_NOT_NEEDED, 84, "no election is needed")                                                 \
    ROW(ERR_NO_REASSIGNMENT_IN_PROGRESS, 85, "no reassignment is running")                                    \
    ROW(ERR_GROUP_SUBSCRIBED_TO_TOPIC, 86, "the group is subscribed to that topic")                           \
    ROW(ERR_INVALID_RECORD, 87, "a record is not valid")                                                      \
    ROW(ERR_UNSTABLE_OFFSET_COMMIT, 88, "offsets of an open transaction are not stable")                      \
    ROW(ERR_THROTTLING_QUOTA_EXCEEDED, 89, "the quota is exceeded")                                           \
    ROW(ERR_PRODUCER_FENCED, 90, "a newer producer has fenced this one")                                      \
    ROW(ERR_RESOURCE_NOT_FOUND, 91, "the resource does not exist")                                            \
    ROW(ERR_DUPLICATE_RESOURCE, 92, "the resource exists twice")                                              \
    ROW(ERR_UNACCEPTABLE_CREDENTIAL, 93, "the credential is not acceptable")                                  \
    ROW(ERR_INCONSISTENT_VOTER_SET, 94, "the voter set does not match")                                       \
    ROW(ERR_INVALID_UPDATE_VERSION, 95, "the update version is not legal")                                    \
    ROW(ERR_FEATURE_UPDATE_FAILED, 96, "the feature update failed")                                           \
    ROW(ERR_PRINCIPAL_DESERIALIZATION_FAILURE, 97, "the principal could not be read")                         \
    ROW(ERR_SNAPSHOT_NOT_FOUND, 98, "the snapshot does not exist")                                            \
    ROW(ERR_POSITION_OUT_OF_RANGE, 99, "the position is out of range")                                        \
    ROW(ERR_UNKNOWN_TOPIC_ID, 100, "no topic has that id")                                                    \
    ROW(ERR_DUPLICATE_BROKER_REGISTRATION, 101, "the broker is registered already")                           \
    ROW(ERR_BROKER_ID_NOT_REGISTERED, 102, "the broker is not registered")                                    \
    ROW(ERR_INCONSISTENT_TOPIC_ID, 103, "the topic id does not fit the topic")                                \
    ROW(ERR_INCONSISTENT_CLUSTER_ID, 104, "the cluster id is another one")                                    \
    ROW(ERR_TRANSACTIONAL_ID_NOT_FOUND, 105, "the transactional id does not exist")                           \
    ROW(ERR_FETCH_SESSION_TOPIC_ID_ERROR, 106, "the fetch session mixes topic ids and names")                 \
    ROW(ERR_INELIGIBLE_REPLICA, 107, "the replica may not join the ISR")                                      \
    ROW(ERR_NEW_LEADER_ELECTED, 108, "a new leader was elected")                                              \
    ROW(ERR_OFFSET_MOVED_TO_TIERED_STORAGE, 109, "the offset moved to tiered storage")                        \
    ROW(ERR_FENCED_MEMBER_EPOCH, 110, "the member's epoch is stale")                                          \
    ROW(ERR_UNRELEASED_INSTANCE_ID, 111, "the instance id is still in use")                                   \
    ROW(ERR_UNSUPPORTED_ASSIGNOR, 112, "the assignor is not supported")                                       \
    ROW(ERR_STALE_MEMBER_EPOCH, 113, "the member epoch is stale")                                             \
    ROW(ERR_MISMATCHED_ENDPOINT_TYPE, 114, "the endpoint is of another type")                                 \
    ROW(ERR_UNSUPPORTED_ENDPOINT_TYPE, 115, "the endpoint type is not supported")                             \
    ROW(ERR_UNKNOWN_CONTROLLER_ID, 116, "no such controller")                                                 \
    ROW(ERR_UNKNOWN_SUBSCRIPTION_ID, 117, "no such telemetry subscription")                                   \
    ROW(ERR_TELEMETRY_TOO_LARGE, 118, "the telemetry is too large")                                           \
    ROW(ERR_INVALID_REGISTRATION, 119, "the registration is not legal")                                       \
    ROW(ERR_TRANSACTION_ABORTABLE, 120, "the transaction must be aborted")                                    \
    ROW(ERR_INVALID_RECORD_STATE, 121, "the record is in another state")                                      \
    ROW(ERR_SHARE_SESSION_NOT_FOUND, 122, "the share session does not exist")                                 \
    ROW(ERR_INVALID_SHARE_SESSION_EPOCH, 123, "the share session epoch is not legal")                         \
    ROW(ERR_FENCED_STATE_EPOCH, 124, "the state epoch is stale")                                              \
    ROW(ERR_INVALID_VOTER_KEY, 125, "the voter key is not legal")                                             \
    ROW(ERR_DUPLICATE_VOTER, 126, "the voter exists already")                                                 \
    ROW(ERR_VOTER_NOT_FOUND, 127, "the voter does not exist")                                                 \
    ROW(ERR_INVALID_REGULAR_EXPRESSION, 128, "the regular expression is not legal")                           \
    ROW(ERR_REBOOTSTRAP_REQUIRED, 129, "the client must bootstrap again")                                     \
    ROW(ERR_STREAMS_INVALID_TOPOLOGY, 130, "the topology is not legal")                                       \
    ROW(ERR_STREAMS_INVALID_TOPOLOGY_EPOCH, 131, "the topology epoch is not legal")                           \
    ROW(ERR_STREAMS_TOPOLOGY_FENCED, 132, "the topology is fenced")                                           \
    ROW(ERR_SHARE_SESSION_LIMIT_REACHED, 133, "no room for another share session")                            \
    ROW(ERR_GROUP_DELETION_FAILED, 134, "the group could not be deleted")                                     \
    ROW(ERR_STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED, 135, "the topology description could not be updated") \
    ROW(ERR_CONTROLLER_ID_NOT_REGISTERED, 136, "the controller is not registered")                            \
    ROW(ERR_NO_MEMORY, -1, "out of memory")                                                                   \
    ROW(ERR_IO, -1, "reading or writing failed")                                                              \
    ROW(ERR_NOT_PERMITTED, -1, "permission denied")                                                           \
    ROW(ERR_READ_ONLY, -1, "the file system is read-only")                                                    \
    ROW(ERR_NOT_A_FOLDER, -1, "not a folder")                                                                 \
    ROW(ERR_NOT_A_FILE, -1, "not a file")                                                                     \
    ROW(ERR_NO_SPACE, -1, "the disk is full")                                                                 \
    ROW(ERR_NOT_FOUND, -1, "not found")                                                                       \
    ROW(ERR_EXISTS, -1, "exists already")                                                                     \
    ROW(ERR_MALFORMED, -1, "the bytes do not have the expected shape")                                        \
    ROW(ERR_CANCELED, -1, "canceled")                                                                         \
    ROW(ERR_BUSY, -1, "in use")                                                                               \
    ROW(ERR_LIMIT, -1, "a limit is reached")                                                                  \
    ROW(ERR_USAGE, -1, "the command line or configuration is not legal")                                      \
    ROW(ERR_NEEDS_IO, -1, "the answer is not in memory")
/* clang-format on */

enum err {
    ERR_NONE = 0,
#define ERROR_ENUM(name, code, sentence) name,
    ERROR_TABLE(ERROR_ENUM)
#undef ERROR_ENUM
        ERR_COUNT
};

/* The code for the wire (0 for ERR_NONE). Any int is safe; unknown ones give -1. */
int16_t error_kafka_code(int err);

/* Name ("ERR_IO") and sentence; static strings, never NULL. */
const char *error_name(int err);
const char *error_text(int err);

/* The err whose wire code this is; ERR_UNKNOWN_SERVER_ERROR for codes that nobody knows. */
enum err error_from_kafka_code(int16_t code);

/* Translates an errno: ENOSPC and EDQUOT give ERR_NO_SPACE, ENOMEM ERR_NO_MEMORY, ENOENT
 * ERR_NOT_FOUND, EEXIST ERR_EXISTS, EACCES and EPERM ERR_NOT_PERMITTED, EROFS ERR_READ_ONLY,
 * ENOTDIR ERR_NOT_A_FOLDER, EISDIR ERR_NOT_A_FILE, everything else ERR_IO. */
enum err error_from_errno(int error);

#endif
