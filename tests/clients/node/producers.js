// SPDX-License-Identifier: Apache-2.0
// kafkajs (its own implementation of the protocol) and node-rdkafka against a broker: topics are
// created and written to. kafkajs reads through groups only, so reading is kcat's part (see run).
//
//   node clients.js HOST:PORT TOPIC RECORDS [--delete]
'use strict';

const { Kafka, CompressionTypes, logLevel } = require('kafkajs');
const rdkafka = require('node-rdkafka');

const [broker, topic, count] = [process.argv[2], process.argv[3], Number(process.argv[4])];
const WAIT_MS = 60000;

function check(what, holds, detail) {
  if (holds) {
    console.log(`   ok  ${what}`);
    return;
  }
  console.log(`NOT ok  ${what}: ${JSON.stringify(detail)}`);
  process.exit(1);
}

async function useKafkajs() {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING, requestTimeout: WAIT_MS });
  const admin = kafka.admin();
  await admin.connect();
  const created = await admin.createTopics({
    topics: [{ topic, numPartitions: 2, replicationFactor: 1,
      configEntries: [{ name: 'retention.ms', value: '3600000' }] }],
  });
  check('kafkajs creates a topic', created === true, created);
  check('and learns that it is there', (await admin.createTopics({ topics: [{ topic }] })) === false);
  check('kafkajs lists it', (await admin.listTopics()).includes(topic));
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  check('with two partitions', topics[0].partitions.length === 2, topics);

  for (const [name, options] of [['plain', {}], ['idempotent', { idempotent: true, maxInFlightRequests: 1 }]]) {
    for (const compression of [CompressionTypes.None, CompressionTypes.GZIP]) {
      const producer = kafka.producer(options);
      await producer.connect();
      const messages = [];
      for (let i = 0; i < count; i++) {
        messages.push({ key: `kafkajs-${i}`, value: i % 10 === 0 ? null : `value-${i}`, partition: 0,
          headers: { client: 'kafkajs', number: String(i) } });
      }
      const [result] = await producer.send({ topic, messages, compression, acks: -1 });
      check(`a ${name} kafkajs producer sends ${count} records, compression ${compression}`,
        result.errorCode === 0 && Number(result.baseOffset) >= 0, result);
      await producer.disconnect();
    }
  }
  const offsets = await admin.fetchTopicOffsets(topic);
  check('kafkajs sees the end offsets', Number(offsets.find((o) => o.partition === 0).high) === 4 * count, offsets);
  await admin.disconnect();
}

function useRdkafka() {
  return new Promise((resolve) => {
    const producer = new rdkafka.Producer({ 'bootstrap.servers': broker, dr_cb: true, 'compression.codec': 'lz4',
      'enable.idempotence': true });
    let delivered = 0;
    const deadline = setTimeout(() => check('node-rdkafka delivers', false, delivered), WAIT_MS);
    producer.on('event.error', (error) => check('node-rdkafka works', false, String(error)));
    producer.on('delivery-report', (error) => {
      if (error) check('node-rdkafka delivers', false, String(error));
      delivered += 1;
      if (delivered < count) return;
      clearTimeout(deadline);
      check(`node-rdkafka delivers ${count} records`, true);
      producer.disconnect(() => resolve());
    });
    producer.connect();
    producer.on('ready', () => {
      producer.setPollInterval(20);
      for (let i = 0; i < count; i++) {
        producer.produce(topic, 1, Buffer.from(`value-${i}`), `rdkafka-${i}`, Date.now(), null, [{ client: 'node-rdkafka' }]);
      }
    });
  });
}

async function deleteTopic() {
  const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [topic] });
  check('kafkajs deletes the topic', !(await admin.listTopics()).includes(topic));
  await admin.disconnect();
}

const steps = process.argv[5] === '--delete' ? [deleteTopic] : [useKafkajs, useRdkafka];
(async () => {
  for (const step of steps) await step();
  process.exit(0);
})().catch((error) => check('no exception', false, String(error && error.stack)));
