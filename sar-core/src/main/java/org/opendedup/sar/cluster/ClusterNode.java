package org.opendedup.sar.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.objects.FolderObjectStore;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A volume of a cluster that is there: the folder {@code NAME.cluster} of its mount, as an object store. While the
 * volume is not mounted, the folder is missing, and nothing can be written to what is below the mount point.
 *
 * @param folder the volume's folder, as this machine reaches it
 * @param cluster id of the cluster
 * @param id id of the volume in the cluster
 * @param membership the list of volumes that it has; null before it got one
 * @param version version of that list's object; null before it got one
 */
record ClusterNode(
        Path folder,
        FolderObjectStore store,
        UUID cluster,
        UUID id,
        @Nullable Membership membership,
        @Nullable String version) {
    private static final Logger log = LoggerFactory.getLogger(ClusterNode.class);

    private static final String IDENTITY = "node";
    private static final String MEMBERS = "members";
    private static final String SUFFIX = ".cluster";
    private static final String HEADER = "sdfs-cluster-node 1";
    private static final int MOST_IDENTITY_BYTES = 1 << 10;

    private static Path rootIn(Path folder, String name) {
        return folder.resolve(name + SUFFIX);
    }

    /** Makes the folder of a cluster in that of a volume. */
    static ClusterNode make(Path folder, String name, UUID cluster) throws IOException {
        Path root = rootIn(folder, name);
        FileDirectory above = FileDirectory.open(folder);
        if (above.exists(name + SUFFIX)) {
            throw new FileAlreadyExistsException(
                    root.toString(), null, "the volume belongs to a cluster of this name, or did");
        }
        // A file makes its folder, and the folder's name is durable after the sync.
        String first = name + SUFFIX + "/.new";
        above.create(first).close();
        above.delete(first);
        above.sync();
        FolderObjectStore store = FolderObjectStore.open(root);
        UUID id = UUID.randomUUID();
        String text = HEADER + "\ncluster " + cluster + "\nnode " + id + "\n";
        store.put(IDENTITY, ObjectSource.of(text.getBytes(StandardCharsets.UTF_8)));
        return new ClusterNode(folder, store, cluster, id, null, null);
    }

    /**
     * Returns a volume of the cluster that never got a list of volumes, because the process that added it was killed;
     * null if it is none.
     */
    static @Nullable ClusterNode left(Path folder, String name, UUID cluster) throws IOException {
        try {
            ClusterNode node = open(folder, name);
            return node.cluster.equals(cluster) && node.membership == null ? node : null;
        } catch (NoSuchFileException e) {
            log.debug("{} has something else", folder, e);
            return null;
        }
    }

    /**
     * Opens the volume behind a folder.
     *
     * @throws NoSuchFileException if the folder has nothing of the cluster: the volume may not be mounted
     */
    static ClusterNode open(Path folder, String name) throws IOException {
        Path root = rootIn(folder, name);
        FolderObjectStore store;
        try {
            Files.readAttributes(root, BasicFileAttributes.class);
            store = FolderObjectStore.open(root);
        } catch (NoSuchFileException e) {
            throw new NoSuchFileException(root.toString(), null, "is the volume mounted?");
        }
        String text = new String(store.readWhole(IDENTITY, MOST_IDENTITY_BYTES), StandardCharsets.UTF_8);
        List<String> lines = text.lines().toList();
        try {
            if (lines.size() != 3 || !lines.get(0).equals(HEADER)) {
                throw new IllegalArgumentException(text);
            }
            UUID cluster = UUID.fromString(lines.get(1).replaceFirst("^cluster ", ""));
            UUID id = UUID.fromString(lines.get(2).replaceFirst("^node ", ""));
            return withMembers(new ClusterNode(folder, store, cluster, id, null, null));
        } catch (IllegalArgumentException e) {
            throw new CorruptionException(root + "/" + IDENTITY, 0, HEADER, text);
        }
    }

    private static ClusterNode withMembers(ClusterNode node) throws IOException {
        Optional<ReplaceableObjects.Version> list = node.store.current(MEMBERS);
        return list.isEmpty()
                ? node
                : new ClusterNode(
                        node.folder,
                        node.store,
                        node.cluster,
                        node.id,
                        Membership.decode(node.store + "/" + MEMBERS, list.get().contents()),
                        list.get().version());
    }

    /**
     * Gives it a list of volumes.
     *
     * @throws org.opendedup.sar.objects.VersionChangedException if another process gave it one meanwhile
     */
    ClusterNode give(Membership list) throws IOException {
        String now = store.replace(MEMBERS, version, UUID.randomUUID(), list.encode());
        return new ClusterNode(folder, store, cluster, id, list, now);
    }

    /** @throws IOException if another process gave it another list of volumes since this one read it */
    void requireSameMembers() throws IOException {
        String now =
                store.current(MEMBERS).map(ReplaceableObjects.Version::version).orElse(null);
        if (!Objects.equals(now, version)) {
            throw new IOException(folder + " got another list of volumes just now; repeat this command");
        }
    }

    /** Returns the list of volumes that it has by now; null before it got one. */
    @Nullable
    Membership newestMembership() throws IOException {
        return withMembers(this).membership;
    }

    /** @throws IOException if the volume does not answer: a failure of one of its objects says nothing of this one */
    void requireThere() throws IOException {
        store.status(IDENTITY);
    }

    /** Returns the share of the shards that a volume of this size should have: its capacity in GiB. */
    static long weightOf(Path folder) throws IOException {
        return Math.max(1, Files.getFileStore(folder).getTotalSpace() >> 30);
    }

    /** Deletes all that the cluster has in the volume. */
    void destroy(String name) throws IOException {
        PrivateFiles.deleteFolder(rootIn(folder, name));
    }

    boolean has(BlockRef block) throws IOException {
        try {
            return store.status(block.objectName()).length() == block.length();
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** Stores a block durably; does nothing if it is there. */
    void put(BlockRef block, byte[] bytes) throws IOException {
        ObjectSource source = ObjectSource.of(bytes);
        store.put(
                block.objectName(),
                new ObjectSource(source.length(), source.crc32c(), block.token(), source.opening()));
    }

    /**
     * Returns the bytes of a block.
     *
     * @throws NoSuchFileException if it is not there
     * @throws CorruptionException if it is there with other bytes
     */
    byte[] read(BlockRef block) throws IOException {
        byte[] bytes = new byte[block.length()];
        store.read(block.objectName(), 0, ByteBuffer.wrap(bytes));
        if (!block.isOf(bytes)) {
            throw new CorruptionException(store + "/" + block, -1, "the bytes of its hash", "others");
        }
        return bytes;
    }

    /** Visits each block that the volume has, page by page. */
    void forEachBlock(BlockVisitor visitor) throws IOException {
        String last = "";
        boolean isLast = false;
        while (!isLast) {
            var page = store.list(BlockRef.FOLDER, last, ObjectStore.MOST_NAMES);
            for (var object : page.objects()) {
                last = object.name();
                Optional<BlockRef> block = BlockRef.named(object);
                if (block.isPresent()) {
                    visitor.visit(block.get());
                } else {
                    log.warn("{}/{} is no block", store, object.name());
                }
            }
            isLast = page.isLast();
        }
    }

    /** Receives blocks. */
    @FunctionalInterface
    interface BlockVisitor {
        void visit(BlockRef block) throws IOException;
    }
}
