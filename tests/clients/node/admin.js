// SPDX-License-Identifier: Apache-2.0
// The admin clients of kafkajs and node-rdkafka against a broker: topics, partitions, settings, offsets, deletion.
//
//   node admin.js HOST:PORT TOPIC
'use strict';

const { Kafka, ConfigResourceTypes, logLevel } = require('kafkajs');
const rdkafka = require('node-rdkafka');
const { check, until, main, WAIT_MS } = require('./check.js');

const [broker, topic] = process.argv.slice(2);
const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING, requestTimeout: WAIT_MS, retry: { retries: 1 } });

// The `type` of the error that a promise is rejected with, be it the first of several in one, or the cause of the
// retries that were given up.
async function refusal(promise) {
  try {
    await promise;
    return null;
  } catch (error) {
    const [first] = error.errors || [error.cause || error];
    return first.type || String(error);
  }
}

async function settingsOf(admin, type, name, configNames) {
  const { resources } = await admin.describeConfigs({ resources: [{ type, name, configNames }], includeSynonyms: true });
  return Object.fromEntries(resources[0].configEntries.map((entry) => [entry.configName, entry]));
}

async function makeTopics(admin) {
  const created = await admin.createTopics({
    topics: [{ topic, numPartitions: 2, replicationFactor: 1, configEntries: [{ name: 'retention.ms', value: '3600000' }] }],
  });
  check('kafkajs creates a topic', created === true, created);
  check('and learns that it is there', (await admin.createTopics({ topics: [{ topic }] })) === false);
  const dry = await admin.createTopics({ validateOnly: true, waitForLeaders: false, topics: [{ topic: `${topic}-dry`, numPartitions: 1 }] });
  check('a dry run creates nothing', dry === true && !(await admin.listTopics()).includes(`${topic}-dry`), dry);
  let refused = await refusal(admin.createTopics({ topics: [{ topic: `${topic}-x`, replicationFactor: 30 }] }));
  check('more replicas than brokers are refused', refused === 'INVALID_REPLICATION_FACTOR', refused);

  await admin.createPartitions({ topicPartitions: [{ topic, count: 4 }] });
  const partitions = async () => (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions;
  await until('partitions are added', async () => (await partitions()).length === 4);
  check('each has a leader, which is in sync',
    (await partitions()).every((p) => p.leader >= 0 && p.isr.length === 1 && p.isr[0] === p.leader && p.partitionErrorCode === 0));
  refused = await refusal(admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }));
  check('but not taken away', refused === 'INVALID_PARTITIONS', refused);

  const cluster = await admin.describeCluster();
  check('the cluster is described', cluster.brokers.length === 1 && `${cluster.brokers[0].host}:${cluster.brokers[0].port}` === broker
    && cluster.controller === cluster.brokers[0].nodeId && cluster.clusterId.length === 22, cluster);
  return cluster.controller;
}

async function changeSettings(admin, nodeId) {
  const TOPIC = ConfigResourceTypes.TOPIC;
  const before = await settingsOf(admin, TOPIC, topic);
  check('what the topic was created with is told',
    before['retention.ms'].configValue === '3600000' && before['retention.ms'].configSource === 1, before['retention.ms']);
  check('and what it gets by default', before['cleanup.policy'].configValue === 'delete' && before['cleanup.policy'].configSource === 5,
    before['cleanup.policy']);
  await admin.alterConfigs({ validateOnly: true, resources: [{ type: TOPIC, name: topic, configEntries: [{ name: 'retention.ms', value: '1' }] }] });
  await admin.alterConfigs({ resources: [{ type: TOPIC, name: topic, configEntries: [{ name: 'max.message.bytes', value: '2000000' }] }] });
  let told;
  await until('settings are changed', async () => {
    told = await settingsOf(admin, TOPIC, topic, ['max.message.bytes', 'retention.ms']);
    return told['max.message.bytes'].configValue === '2000000';
  });
  check('what was not named is the default again', told['retention.ms'].configValue === '604800000', told['retention.ms']);
  check('what was not asked for is not told', Object.keys(told).length === 2, Object.keys(told));
  const refused = await refusal(admin.alterConfigs({
    resources: [{ type: TOPIC, name: topic, configEntries: [{ name: 'retention.ms', value: 'soon' }] }] }));
  check('a value that cannot be is refused', refused === 'INVALID_CONFIG', refused);
  const own = await settingsOf(admin, ConfigResourceTypes.BROKER, String(nodeId), ['log.dirs']);
  check('the broker tells its settings', own['log.dirs'].readOnly === true, own);
}

async function findOffsets(admin) {
  const began = Date.now() - 100000;
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, messages: Array.from({ length: 100 }, (_, i) => (
    { value: `${i}`, partition: 1, timestamp: String(began + i * 1000) })) });
  await producer.disconnect();
  const of = (offsets, partition) => offsets.find((offset) => offset.partition === partition);
  let offsets = await admin.fetchTopicOffsets(topic);
  check('first offsets and ends are told', of(offsets, 1).low === '0' && of(offsets, 1).high === '100' && of(offsets, 0).high === '0', offsets);
  offsets = await admin.fetchTopicOffsetsByTimestamp(topic, began + 41500);
  check('a time leads to its offset', of(offsets, 1).offset === '42', offsets);
  check('and to the end where nothing is so late', of(offsets, 0).offset === '0', offsets);

  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 1, offset: '60' }] });
  offsets = await admin.fetchTopicOffsets(topic);
  check('records are deleted', of(offsets, 1).low === '60' && of(offsets, 1).high === '100', offsets);
  const refused = await refusal(admin.deleteTopicRecords({ topic, partitions: [{ partition: 1, offset: '101' }] }));
  check('but not more than there are', refused !== null, refused);
}

async function useKafkajs() {
  const admin = kafka.admin();
  await admin.connect();
  const nodeId = await makeTopics(admin);
  await changeSettings(admin, nodeId);
  await findOffsets(admin);
  await admin.deleteTopics({ topics: [topic] });
  await until('the topic is deleted', async () => !(await admin.listTopics()).includes(topic));
  const refused = await refusal(admin.deleteTopics({ topics: [topic] }));
  check('and cannot be again', refused === 'UNKNOWN_TOPIC_OR_PARTITION', refused);
  await admin.disconnect();
}

// node-rdkafka's calls end with (error, result).
const call = (object, name, ...args) => new Promise((resolve) => {
  object[name](...args, (error, result) => resolve({ code: error ? error.code : 0, result }));
});

async function useRdkafka() {
  const admin = rdkafka.AdminClient.create({ 'bootstrap.servers': broker });
  const created = await call(admin, 'createTopic', { topic, num_partitions: 2, replication_factor: 1, config: { 'retention.ms': '60000' } }, WAIT_MS);
  check('node-rdkafka creates a topic', created.code === 0, created);
  const again = await call(admin, 'createTopic', { topic, num_partitions: 2, replication_factor: 1 }, WAIT_MS);
  check('a name that exists is refused', again.code === 36, again);
  const grown = await call(admin, 'createPartitions', topic, 3, WAIT_MS);
  check('partitions are added', grown.code === 0, grown);
  const shrunk = await call(admin, 'createPartitions', topic, 1, WAIT_MS);
  check('but not taken away', shrunk.code === 37, shrunk);

  const producer = new rdkafka.Producer({ 'bootstrap.servers': broker, dr_cb: true });
  const connected = await call(producer, 'connect', { timeout: WAIT_MS });
  check('node-rdkafka connects', connected.code === 0, connected);
  await until('the topic is told with three partitions', async () => {
    const { result } = await call(producer, 'getMetadata', { topic, timeout: WAIT_MS });
    const told = result && result.topics.find(({ name }) => name === topic);
    return told && told.partitions.length === 3;
  });
  producer.setPollInterval(20);
  const delivered = new Promise((resolve) => { producer.on('delivery-report', (error, report) => resolve(report)); });
  producer.produce(topic, 2, Buffer.from('one'), null, Date.now());
  check('a record is delivered', (await delivered).offset === 0);
  const watermarks = await call(producer, 'queryWatermarkOffsets', topic, 2, WAIT_MS);
  check('first offset and end are told', watermarks.result && watermarks.result.lowOffset === 0 && watermarks.result.highOffset === 1, watermarks);
  await call(producer, 'disconnect');

  const deleted = await call(admin, 'deleteTopic', topic, WAIT_MS);
  check('the topic is deleted', deleted.code === 0, deleted);
  const missing = await call(admin, 'deleteTopic', topic, WAIT_MS);
  check('and cannot be again', missing.code === 3, missing);
  admin.disconnect();
}

main(useKafkajs, useRdkafka);
