package org.opendedup.sar.s3;

import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStoreContract;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.S3Gateway;

/**
 * The contract over a server in a process of its own: one that this starts, or that of the address
 * {@code -Dsar.s3=s3://BUCKET/PREFIX?endpoint=URL}, with the credentials of the environment. Makes objects below a new
 * prefix there, and deletes them.
 */
class S3ServerTest extends ObjectStoreContract {
    @MemoryFolder
    static Path folder;

    private static S3Gateway gateway;
    private static String address;

    @BeforeAll
    static void start() throws IOException {
        address = System.getProperty("sar.s3");
        if (address == null) {
            gateway = new S3Gateway(folder);
            address = gateway.address("tests");
        }
    }

    @AfterAll
    static void stop() {
        if (gateway != null) {
            gateway.close();
        }
    }

    @Override
    protected ObjectStore newStore() throws IOException {
        String[] parts = address.split("\\?", 2);
        String prefix = parts[0].replaceFirst("/+$", "") + "/test-" + UUID.randomUUID();
        return ObjectStores.open(parts.length == 1 ? prefix : prefix + "?" + parts[1]);
    }

    @Override
    protected int manyNames() {
        // A page has 1000. Each name is a put.
        return 1100;
    }

    @AfterEach
    void deleteAll() throws IOException {
        ObjectPage page;
        do {
            page = store().list("", "", ObjectStore.MOST_NAMES);
            store().delete(page.names());
        } while (!page.isLast());
    }
}
