package org.opendedup.sar.sdfs.fuse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.index.heap.HeapChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.config.VolumeConfigs;
import org.opendedup.sar.volume.names.EntryVisitor;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.store.VolumeStores;

/**
 * The file system on a volume in memory. Counts the references it gave, so that a test can see whether they came back.
 * Works on after the end of a mount, until {@link #closeVolume}.
 */
public class MemoryFileSystem extends FuseFileSystem {
    public static final long ROOT = 1;

    private final Volume volume;
    private final Map<Long, Long> references = new ConcurrentHashMap<>();
    private volatile boolean ended;

    public MemoryFileSystem() {
        this(volumeInMemory());
    }

    private MemoryFileSystem(Volume volume) {
        super(volume, MountOptions.of(Path.of("/none"), "memory"));
        this.volume = volume;
    }

    /** Makes and opens a volume of 1 TiB whose stores are in memory. */
    static Volume volumeInMemory() {
        VolumeConfig config = VolumeConfigs.in(Path.of("in memory"), 1L << 40, Chunking.VARIABLE_SHA256);
        CrashDirectory containers = new CrashDirectory(1, false);
        CrashKeyValueStore metadata = new CrashKeyValueStore();
        InstantSource clock = InstantSource.system();
        try {
            Volume.create(config, containers, metadata, clock);
            return Volume.open(
                    config,
                    new VolumeStores(containers, metadata, new HeapChunkIndex(), clock),
                    Verification.CHECKSUMS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** References given and not given back. */
    public long referencesHeld() {
        return references.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Inodes, those included that have no name and are only kept in use. */
    public long inodes() throws IOException {
        return volume.space().files();
    }

    public boolean hasEnded() {
        return ended;
    }

    public void closeVolume() throws IOException {
        volume.close();
    }

    private Attributes given(Attributes attributes) {
        references.merge(attributes.inode(), 1L, Long::sum);
        return attributes;
    }

    @Override
    public Attributes lookup(long directory, byte[] name) throws IOException {
        return given(super.lookup(directory, name));
    }

    @Override
    public void forget(long inode, long count) {
        references.merge(inode, -count, Long::sum);
        super.forget(inode, count);
    }

    @Override
    public Attributes makeNode(long directory, byte[] name, int mode, int device, Owner caller) throws IOException {
        return given(super.makeNode(directory, name, mode, device, caller));
    }

    @Override
    public Attributes makeDirectory(long directory, byte[] name, int mode, Owner caller) throws IOException {
        return given(super.makeDirectory(directory, name, mode, caller));
    }

    @Override
    public Attributes makeSymbolicLink(long directory, byte[] name, byte[] target, Owner caller) throws IOException {
        return given(super.makeSymbolicLink(directory, name, target, caller));
    }

    @Override
    public Attributes link(long inode, long directory, byte[] name) throws IOException {
        return given(super.link(inode, directory, name));
    }

    @Override
    public CreatedFile createUnnamed(long directory, int mode, boolean writable, Owner caller) throws IOException {
        CreatedFile created = super.createUnnamed(directory, mode, writable, caller);
        given(created.attributes());
        return created;
    }

    @Override
    public void list(long directory, long cookie, boolean withAttributes, EntryVisitor visitor) throws IOException {
        super.list(directory, cookie, withAttributes, (name, inode, type, next, attributes) -> {
            boolean taken = visitor.visit(name, inode, type, next, attributes);
            if (taken && attributes != null) {
                given(attributes);
            }
            return taken;
        });
    }

    @Override
    public void end() {
        super.end();
        ended = true;
    }
}
