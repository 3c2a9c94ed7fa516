package org.opendedup.sar.container;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.io.Directory;

/** The environment of a container store, small enough that containers fill quickly. */
public final class StoreFixture implements AutoCloseable {
    final AtomicLong lastId = new AtomicLong();
    final Map<Long, byte[]> frameTables = new ConcurrentHashMap<>();
    final ExecutorService workers = Executors.newFixedThreadPool(2);
    public ContainerOptions options = options(Compression.Codec.ZSTD);
    ContainerClaims claims = ContainerClaims.NONE;

    public static ContainerOptions options(Compression.Codec codec) {
        return new ContainerOptions(new Compression(codec, 1, 4096), 40_000, 200, 3, 64 * 1024);
    }

    public ContainerStore open(Directory directory) throws IOException {
        return open(directory, frameTables::get, frameTables::put);
    }

    /** As after a crash that destroyed the index: only the containers have frame tables. */
    public ContainerStore openWithoutTables(Directory directory) throws IOException {
        return open(directory, container -> null, (container, table) -> {});
    }

    public ContainerStore open(Directory directory, FrameTableSource tables, SealListener listener) throws IOException {
        return ContainerStore.open(
                directory,
                options,
                lastId::incrementAndGet,
                () -> 0x0123456789abcdefL,
                claims,
                tables,
                listener,
                workers,
                2_000);
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }
}
