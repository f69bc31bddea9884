// SPDX-License-Identifier: Apache-2.0
// The producers of kafkajs (its own implementation of the protocol) and node-rdkafka against a broker: partition 0
// of a topic is kafkajs's, 1 is node-rdkafka's. kafkajs reads through groups only, so reading is kcat's part (see run).
//
//   node producers.js HOST:PORT TOPIC RECORDS
'use strict';

const { Kafka, CompressionTypes, logLevel } = require('kafkajs');
const rdkafka = require('node-rdkafka');
const { check, main, WAIT_MS } = require('./check.js');

const [broker, topic, count] = [process.argv[2], process.argv[3], Number(process.argv[4])];

async function useKafkajs() {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING, requestTimeout: WAIT_MS });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 2, replicationFactor: 1 }] });
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

main(useKafkajs, useRdkafka);
