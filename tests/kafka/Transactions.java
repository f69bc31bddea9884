// SPDX-License-Identifier: Apache-2.0
// Writes to topic "bank", two partitions: committed, aborted, and at last one that stays open.

import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

public class Transactions {
    static KafkaProducer<String, String> producer(String server, String id) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", server);
        settings.put("transactional.id", id);
        settings.put("transaction.timeout.ms", "900000");
        settings.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        settings.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        KafkaProducer<String, String> made = new KafkaProducer<>(settings);
        made.initTransactions();
        return made;
    }

    static void write(KafkaProducer<String, String> producer, String what, int count) {
        for (int i = 0; i < count; i++)
            producer.send(new ProducerRecord<>("bank", i % 2, "key-" + i, what + " " + i));
        producer.flush();
    }

    public static void main(String[] arguments) throws Exception {
        KafkaProducer<String, String> one = producer(arguments[0], "one");
        KafkaProducer<String, String> two = producer(arguments[0], "two");
        for (int round = 0; round < 5; round++) {
            one.beginTransaction();
            two.beginTransaction();
            write(one, "committed", 20);
            write(two, "aborted", 14);
            write(one, "committed", 6);
            two.abortTransaction();
            one.commitTransaction();
        }
        two.beginTransaction();
        write(two, "open", 4);
        one.beginTransaction();
        write(one, "committed behind an open one", 4);
        one.commitTransaction();
        one.close();
        Runtime.getRuntime().halt(0); // The other says nothing more.
    }
}
