package org.opendedup.sar.volume;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.InstantSource;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.receive.SnapshotReceiver;
import org.opendedup.sar.volume.store.VolumeStores;

/** The stores of a volume in memory, which can lose power; a test may act at a moment during storing. */
public final class VolumeInMemory {
    /** Runs while a run of bytes is being stored, in the thread that stores it. */
    @FunctionalInterface
    interface WhileStored {
        void run() throws IOException;
    }

    private final VolumeConfig config;
    private final CrashDirectory containers;
    private final CrashKeyValueStore metadata;
    private volatile WhileStored whileStored = () -> {};
    private volatile WatchedDirectory.Watcher watcher = (method, file) -> {};

    private VolumeInMemory(VolumeConfig config, CrashDirectory containers, CrashKeyValueStore metadata) {
        this.config = config;
        this.containers = containers;
        this.metadata = metadata;
    }

    /** An empty volume. Nothing is stored in the configured locations. */
    static VolumeInMemory create(VolumeConfig config, long seed) throws IOException {
        VolumeInMemory made = new VolumeInMemory(config, new CrashDirectory(seed), new CrashKeyValueStore());
        Volume.create(config, made.containers, made.metadata, InstantSource.system());
        return made;
    }

    Volume open() throws IOException {
        return Volume.open(config, stores(), Verification.CHECKSUMS);
    }

    /** Returns what receives snapshots into the volume, which is not open. */
    SnapshotReceiver receiver() throws IOException {
        return new SnapshotReceiver(
                () -> VolumeContext.open(config, stores(), Verification.CHECKSUMS, VolumeContext.Purpose.RECEIVING),
                config.locations().metadata());
    }

    private VolumeStores stores() {
        Directory watched = WatchedDirectory.of(containers, (method, file) -> watcher.before(method, file));
        return new VolumeStores(watched, metadata, watched(new HeapChunkIndex()), InstantSource.system());
    }

    /**
     * Sets the action at each look-up in the index: at that moment the run has left the dirty bytes, and is not stored
     * yet.
     */
    void whileStored(WhileStored action) {
        whileStored = action;
    }

    /** Sets the action before each call of the directory with the containers. */
    void watch(WatchedDirectory.Watcher toTell) {
        watcher = toTell;
    }

    /** Returns the directory with the containers. */
    CrashDirectory containers() {
        return containers;
    }

    /** Returns the state after a power cut now. The stores of the open volume fail from now on. */
    VolumeInMemory crash(long seed) throws IOException {
        CrashKeyValueStore metadataLeft = metadata.crash(seed);
        return new VolumeInMemory(config, containers.crash(seed), metadataLeft);
    }

    /** Discards a volume whose stores have no power. */
    public static void abandon(Volume volume) {
        try {
            volume.close();
        } catch (IOException e) {
            // Expected, because its stores are gone.
        }
    }

    private ChunkIndex watched(ChunkIndex index) {
        return (ChunkIndex) Proxy.newProxyInstance(
                ChunkIndex.class.getClassLoader(), new Class<?>[] {ChunkIndex.class}, (self, method, arguments) -> {
                    if (method.getName().equals("lookup")) {
                        whileStored.run();
                    }
                    try {
                        method.setAccessible(true);
                        return method.invoke(index, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
