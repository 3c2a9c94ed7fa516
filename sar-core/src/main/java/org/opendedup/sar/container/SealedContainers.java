package org.opendedup.sar.container;

import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.io.Directory;

/** Which containers are sealed, how many they are, and how large. Safe for use by many threads. */
final class SealedContainers {
    private final Directory directory;
    private final ContainerIdSet ids = new ContainerIdSet();
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final long highestAtOpening;

    /** Counts the sealed containers of a directory that recovery has finished with. */
    SealedContainers(Directory directory) throws IOException {
        this.directory = directory;
        long last = 0;
        for (String name : directory.list()) {
            OptionalLong container = ContainerFormat.containerOf(name, ContainerFormat.SEALED_SUFFIX);
            if (container.isPresent()) {
                add(container.getAsLong(), directory.length(name));
            }
            last = Math.max(last, ContainerFormat.idOf(name));
        }
        highestAtOpening = last;
    }

    /** Adds a container that was sealed, whose file has {@code fileBytes} bytes. */
    void add(long container, long fileBytes) {
        count.incrementAndGet();
        bytes.addAndGet(fileBytes);
        ids.add(container);
    }

    boolean contains(long container) {
        return ids.contains(container);
    }

    long count() {
        return count.get();
    }

    /** Returns the total size of the sealed containers' files, in bytes. */
    long bytes() {
        return bytes.get();
    }

    /**
     * Returns the highest container id in any file name of the directory when this was made, whatever the name's
     * suffix; 0 if there was none.
     */
    long highestAtOpening() {
        return highestAtOpening;
    }

    /** Visits the id of every sealed container that the directory lists, in no particular order. */
    void forEachFile(LongConsumer visitor) throws IOException {
        for (String name : directory.list()) {
            OptionalLong container = ContainerFormat.containerOf(name, ContainerFormat.SEALED_SUFFIX);
            if (container.isPresent()) {
                visitor.accept(container.getAsLong());
            }
        }
    }
}
