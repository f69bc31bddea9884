// SPDX-License-Identifier: Apache-2.0
// A consumer of many partitions, which uses a fetch session (KIP-227): records trickle into one partition after
// the other, and some partitions are paused and resumed, so that the session forgets and adds them.
//
//   java -cp 'libs/*' Sessions.java HOST:PORT TOPIC PARTITIONS RECORDS

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.apache.kafka.common.serialization.IntegerSerializer;

public class Sessions {
    public static void main(String[] args) throws Exception {
        String topic = args[1];
        int partitions = Integer.parseInt(args[2]), records = Integer.parseInt(args[3]);
        Random random = new Random(20260131);
        long[] next = new long[partitions], sent = new long[partitions];
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 0; i < partitions; i++)
            all.add(new TopicPartition(topic, i));
        try (KafkaProducer<Integer, Integer> producer = new KafkaProducer<>(
                 Map.of("bootstrap.servers", args[0], "acks", "all"), new IntegerSerializer(), new IntegerSerializer());
             KafkaConsumer<Integer, Integer> consumer = new KafkaConsumer<>(
                 Map.of("bootstrap.servers", args[0], "fetch.max.wait.ms", "100", "enable.auto.commit", "false"),
                 new IntegerDeserializer(), new IntegerDeserializer())) {
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long got = 0, deadline = System.nanoTime() + 60_000_000_000L;
            for (int count = 0; got < records; ) {
                if (System.nanoTime() > deadline) throw new Exception("only " + got + " of " + records + " records came");
                for (int i = 0; i < 5 && count < records; i++, count++) {
                    int partition = random.nextInt(partitions);
                    producer.send(new ProducerRecord<>(topic, partition, count, (int) sent[partition]++)).get();
                }
                if (count < records) {
                    consumer.pause(List.of(all.get(random.nextInt(partitions))));
                    consumer.resume(List.of(all.get(random.nextInt(partitions))));
                } else {
                    consumer.resume(all);
                }
                for (ConsumerRecord<Integer, Integer> record : consumer.poll(Duration.ofMillis(20))) {
                    if (record.offset() != next[record.partition()]++ || record.offset() != record.value())
                        throw new Exception("not in order: " + record);
                    got++;
                }
            }
        }
        System.out.println(records + " records");
    }
}
