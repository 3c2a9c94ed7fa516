package org.opendedup.sar.container;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;

/**
 * The environment of container stores, small enough that containers fill quickly. Has a container table for each
 * directory, and does what a volume's commits do.
 */
public final class StoreFixture implements AfterEachCallback {
    static final int WORKERS = 2;

    final AtomicLong lastId = new AtomicLong();
    final Map<Long, byte[]> frameTables = new ConcurrentHashMap<>();
    final ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
    /** Salt of each new container. */
    long salt = 0x0123456789abcdefL;

    public ContainerOptions options = options(Compression.Codec.ZSTD);
    /** That of the stores; {@link ContainerCipher#NONE} unless a test sets another one. */
    public ContainerCipher cipher = ContainerCipher.NONE;

    private final Map<Directory, HeapContainerTable> tables = new ConcurrentHashMap<>();
    private final Map<ContainerStore, HeapContainerTable> opened = new ConcurrentHashMap<>();

    public static ContainerOptions options(Compression.Codec codec) {
        return new ContainerOptions(new Compression(codec, 1, 4096), 40_000, 200, 3, 64 * 1024, ContainerCipher.NONE);
    }

    /** Opens a store with the table that was committed for the directory; an empty one if there is none. */
    public ContainerStore open(Directory directory) throws IOException {
        return open(directory, frameTables::get, frameTables::put);
    }

    /** As after a crash that destroyed the index: only the containers have frame tables. */
    public ContainerStore openWithoutTables(Directory directory) throws IOException {
        return open(directory, container -> null, (container, table) -> {});
    }

    public ContainerStore open(Directory directory, FrameTableSource frames, SealListener listener) throws IOException {
        HeapContainerTable table = table(directory);
        ContainerStore store = new ContainerStore(
                directory, encrypted(), lastId::incrementAndGet, () -> salt, table, frames, listener, workers, 2_000);
        opened.put(store, table);
        return store;
    }

    /** Returns the options, with the cipher of the fixture. */
    private ContainerOptions encrypted() {
        return new ContainerOptions(
                options.compression(),
                options.containerBytes(),
                options.maxChunksPerContainer(),
                options.maxOpenContainers(),
                options.maxBytesInFlight(),
                cipher);
    }

    /** Returns a container's entry in the table of a directory. */
    public StoredContainer entry(Directory directory, long container) {
        return Objects.requireNonNull(table(directory).stored(container), () -> "no container " + container);
    }

    /** Returns the name of the pack in which a container lies. */
    public String pack(Directory directory, long container) {
        return PackFormat.fileName(entry(directory, container).pack());
    }

    /** Returns the bytes of a container. */
    public byte[] contents(CrashDirectory disk, long container) throws IOException {
        StoredContainer entry = entry(disk, container);
        byte[] pack = disk.contents(pack(disk, container));
        return Arrays.copyOfRange(pack, (int) entry.offset(), (int) (entry.offset() + entry.bytes()));
    }

    /** Puts other bytes in the place of a container; cuts the pack after them. */
    public void replace(CrashDirectory disk, long container, byte[] bytes) throws IOException {
        int offset = (int) entry(disk, container).offset();
        String name = pack(disk, container);
        byte[] pack = Arrays.copyOf(disk.contents(name), offset + bytes.length);
        System.arraycopy(bytes, 0, pack, offset, bytes.length);
        disk.put(name, pack);
    }

    /** Returns the table of a directory. */
    public HeapContainerTable table(Directory directory) {
        return tables.computeIfAbsent(directory, any -> new HeapContainerTable());
    }

    /** Makes a directory use the table of another, which it delegates to. */
    void shareTable(Directory owner, Directory other) {
        tables.put(other, table(owner));
    }

    /** Leaves a disk this much free space, and nothing reserved. */
    static void limit(CrashDirectory disk, long freeBytes) throws IOException {
        for (String name : disk.list()) {
            disk.trim(name);
        }
        disk.noSpaceAfter(freeBytes);
    }

    /** Makes a directory use a copy of the table that another has now. */
    void copyTable(Directory from, Directory to) {
        tables.put(to, table(from).copy());
    }

    /** Returns what a power cut leaves of a directory, with the container table as of the last commit. */
    public CrashDirectory crash(CrashDirectory disk, long seed) {
        CrashDirectory left = disk.crash(seed);
        copyTable(disk, left);
        return left;
    }

    /** Makes everything appended before the call durable and commits the changes of the table, as a volume does. */
    public void commit(ContainerStore store) throws IOException {
        Objects.requireNonNull(opened.get(store)).commit(store);
    }

    /** Ends all containers and commits, as a volume does when it is closed. */
    public void sealAll(ContainerStore store) throws IOException {
        Objects.requireNonNull(opened.get(store)).sealAll(store);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        workers.shutdownNow();
    }
}
