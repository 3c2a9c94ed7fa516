package org.opendedup.sar.sim.bench;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunking;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;

/**
 * A volume with many files of 4 KiB in folders below its root. All are copies of one file by its recipe, so each has an
 * inode, a name and a page, and no data is written. For one thread.
 */
final class FileTree implements Closeable {
    private static final int FILE_BYTES = 4096;
    private static final int TOGETHER = 10_000;
    private static final int ANYWHERE = 1000;
    private static final Owner OWNER = new Owner(0, 0);
    private static final byte[] SOURCE = name("source", 0);

    /**
     * The number of files and their layout.
     *
     * @param files number of all files
     * @param folderFiles number of files in a folder
     * @param inTurns true: one file in each folder, then the next one in each; false: folder by folder
     */
    record Shape(int files, int folderFiles, boolean inTurns) {
        int folders() {
            return Math.max(1, files / folderFiles);
        }
    }

    /** The kinds of work whose rate is measured. */
    enum Work {
        CREATE_TOGETHER("create in a new folder"),
        REMOVE_TOGETHER("remove such a folder's files"),
        CREATE_ANYWHERE("create in folders anywhere"),
        REMOVE_ANYWHERE("remove such files"),
        REMOVE_OLD_FOLDER("list an old folder and remove its files");

        private final String words;

        Work(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }
    }

    private final VolumeConfig config;
    private final Shape shape;
    private final boolean isNew;
    private Volume volume;
    /** Numbers that no earlier run has used. */
    private int newFolders = (int) (System.currentTimeMillis() / 1000);

    private int createdAnywhere = newFolders;
    private int oldFolders;
    /** Folders of the files that {@code CREATE_ANYWHERE} made last. */
    private final List<Integer> madeIn = new ArrayList<>();

    private FileTree(VolumeConfig config, Shape shape, boolean isNew) throws IOException {
        this.config = config;
        this.shape = shape;
        this.isNew = isNew;
        volume = Volume.open(config);
    }

    /** Opens the volume of a folder; makes an empty one if there is none. */
    static FileTree open(Path folder, Shape shape, long budgetBytes, @Nullable VolumeKeys keys) throws IOException {
        VolumeConfig config = new VolumeConfig(
                        "bench",
                        1L << 50,
                        95,
                        new VolumeConfig.Locations(
                                folder.resolve("data"), folder.resolve("metadata"), folder.resolve("hashdb")),
                        Chunking.VARIABLE_SHA256,
                        new Compression(Compression.Codec.ZSTD, 1, 64 << 10),
                        256 << 10,
                        budgetBytes,
                        2,
                        new VolumeConfig.RootDirectory(0755, 0, 0))
                .withKeys(keys);
        boolean isNew = Files.notExists(folder);
        if (isNew) {
            Volume.create(config);
        }
        return new FileTree(config, shape, isNew);
    }

    boolean isNew() {
        return isNew;
    }

    Shape shape() {
        return shape;
    }

    /** Opens the volume again, so that its own caches are empty. */
    void reopen() throws IOException {
        volume.close();
        volume = Volume.open(config);
    }

    /** Makes all the files. */
    void fill() throws IOException {
        long sourceInode =
                volume.makeNode(Inode.ROOT, SOURCE, 0100644, 0, OWNER).inode();
        OpenFile source = volume.open(sourceInode, true);
        byte[] bytes = new byte[FILE_BYTES];
        new Random(1).nextBytes(bytes);
        volume.write(source, 0, ByteBuffer.wrap(bytes));
        volume.sync();
        long[] folders = new long[shape.folders()];
        for (int folder = 0; folder < folders.length; folder++) {
            folders[folder] = makeFolder(name("folder", folder));
        }
        int count = shape.folders() * shape.folderFiles();
        for (int i = 0; i < count; i++) {
            int folder = shape.inTurns() ? i % folders.length : i / shape.folderFiles();
            int file = shape.inTurns() ? i / folders.length : i % shape.folderFiles();
            make(source, folders[folder], name("file", file));
        }
        volume.close(source);
        volume.forget(sourceInode, 1);
        volume.sync();
    }

    private long makeFolder(byte[] name) throws IOException {
        long inode = volume.makeDirectory(Inode.ROOT, name, 0755, OWNER).inode();
        volume.forget(inode, 1);
        return inode;
    }

    private void make(OpenFile source, long folder, byte[] name) throws IOException {
        long inode = volume.makeNode(folder, name, 0100644, 0, OWNER).inode();
        OpenFile target = volume.open(inode, true);
        volume.copy(source, 0, target, 0, FILE_BYTES);
        volume.close(target);
        volume.forget(inode, 1);
    }

    /** Does what {@code find -ls} requests at most: a listing with attributes, and a lookup of each name. */
    void findWithAttributes(int folder) throws IOException {
        long inode = folder(folder);
        List<byte[]> names = list(inode);
        for (byte[] name : names) {
            look(inode, name);
        }
        if (names.size() != shape.folderFiles()) {
            throw new IllegalStateException(names.size() + " names in folder " + folder);
        }
    }

    /** Returns the names in a folder; also requests their attributes. */
    List<byte[]> list(long folder) throws IOException {
        List<byte[]> names = new ArrayList<>();
        List<Long> retained = new ArrayList<>();
        volume.list(folder, 0, true, (name, inode, type, cookie, attributes) -> {
            if (attributes != null) {
                names.add(name);
                retained.add(inode);
            }
            return true;
        });
        for (long inode : retained) {
            volume.forget(inode, 1);
        }
        return names;
    }

    /** Looks up names, each in a random folder. */
    void lookups(Random random, int count, boolean present) throws IOException {
        for (int i = 0; i < count; i++) {
            long folder = folder(random.nextInt(shape.folders()));
            byte[] name = name(present ? "file" : "none", random.nextInt(shape.folderFiles()));
            boolean found;
            try {
                look(folder, name);
                found = true;
            } catch (PosixException e) {
                found = false;
            }
            if (found != present) {
                throw new IllegalStateException(new String(name, StandardCharsets.UTF_8) + " found: " + found);
            }
        }
    }

    private long folder(int number) throws IOException {
        return look(Inode.ROOT, name("folder", number));
    }

    private long look(long folder, byte[] name) throws IOException {
        Attributes found = volume.lookup(folder, name);
        volume.forget(found.inode(), 1);
        return found.inode();
    }

    /** Prepares what a kind of work needs; this is not measured. */
    void prepare(Work kind) throws IOException {
        switch (kind) {
            case CREATE_TOGETHER -> {}
            case REMOVE_TOGETHER -> run(Work.CREATE_TOGETHER, new Random());
            case CREATE_ANYWHERE, REMOVE_OLD_FOLDER -> reopen();
            case REMOVE_ANYWHERE -> {
                run(Work.CREATE_ANYWHERE, new Random());
                reopen();
            }
        }
    }

    /** Does a kind of work durably; returns the number of files that it made or removed. */
    int run(Work kind, Random random) throws IOException {
        int done = switch (kind) {
            case CREATE_TOGETHER -> createTogether();
            case REMOVE_TOGETHER -> removeAll(look(Inode.ROOT, name("new", newFolders - 1)));
            case CREATE_ANYWHERE -> createAnywhere(random);
            case REMOVE_ANYWHERE -> removeAnywhere();
            case REMOVE_OLD_FOLDER -> removeAll(folder(oldFolders++));
        };
        volume.sync();
        return done;
    }

    private int createTogether() throws IOException {
        long folder = makeFolder(name("new", newFolders++));
        OpenFile source = volume.open(look(Inode.ROOT, SOURCE), false);
        for (int i = 0; i < TOGETHER; i++) {
            make(source, folder, name("file", i));
        }
        volume.close(source);
        return TOGETHER;
    }

    private int removeAll(long folder) throws IOException {
        List<byte[]> names = list(folder);
        for (byte[] name : names) {
            volume.unlink(folder, name);
        }
        return names.size();
    }

    private int createAnywhere(Random random) throws IOException {
        madeIn.clear();
        createdAnywhere++;
        OpenFile source = volume.open(look(Inode.ROOT, SOURCE), false);
        for (int i = 0; i < ANYWHERE; i++) {
            int folder = random.nextInt(shape.folders());
            make(source, folder(folder), name("new-" + createdAnywhere, i));
            madeIn.add(folder);
        }
        volume.close(source);
        return madeIn.size();
    }

    private int removeAnywhere() throws IOException {
        for (int i = 0; i < madeIn.size(); i++) {
            volume.unlink(folder(madeIn.get(i)), name("new-" + createdAnywhere, i));
        }
        return madeIn.size();
    }

    private static byte[] name(String kind, int number) {
        return (kind + "-" + number).getBytes(StandardCharsets.UTF_8);
    }

    /** Makes a snapshot, durably. */
    void snapshot(String name) throws IOException {
        volume.snapshots().create(name, 0, false);
    }

    /** Makes a new file, and renames and deletes an old one, in folders anywhere, as often as asked. */
    void changeNames(Random random, int times) throws IOException {
        createdAnywhere++;
        int done = 0;
        while (done < times) {
            long folder = folder(random.nextInt(shape.folders()));
            long other = folder(random.nextInt(shape.folders()));
            try {
                volume.rename(
                        folder, file(random), other, name("renamed-" + createdAnywhere, done), RenameMode.REPLACE);
                volume.unlink(other, file(random));
            } catch (PosixException e) {
                // An earlier change has removed it.
                continue;
            }
            byte[] name = name("different-" + createdAnywhere, done++);
            volume.forget(volume.makeNode(folder, name, 0100644, 0, OWNER).inode(), 1);
        }
    }

    private byte[] file(Random random) {
        return name("file", random.nextInt(shape.folderFiles()));
    }

    /** Writes files anywhere, as many as asked. */
    void changeContents(Random random, int count) throws IOException {
        byte[] bytes = new byte[FILE_BYTES];
        int done = 0;
        while (done < count) {
            try {
                OpenFile file = volume.open(look(folder(random.nextInt(shape.folders())), file(random)), true);
                random.nextBytes(bytes);
                volume.write(file, 0, ByteBuffer.wrap(bytes));
                volume.close(file);
                done++;
            } catch (PosixException e) {
                // An earlier change has removed it.
                continue;
            }
        }
    }

    /** Compares two snapshots; returns the number of changes. */
    long compare(String from, String to) throws IOException {
        long[] count = new long[1];
        volume.maintenance().snapshotDiff().run(from, to, Progress.NONE, change -> count[0]++);
        return count[0];
    }

    /**
     * Compares two snapshots as programs do: lists all folders of both, with attributes. Returns the number of names
     * that show something else.
     */
    long compareByWalking(String from, String to) throws IOException {
        long snapshots = look(Inode.ROOT, ".snapshots".getBytes(StandardCharsets.UTF_8));
        long one = look(snapshots, from.getBytes(StandardCharsets.UTF_8));
        long other = look(snapshots, to.getBytes(StandardCharsets.UTF_8));
        long count = 0;
        for (int folder = 0; folder < shape.folders(); folder++) {
            Set<List<Object>> before = seen(look(one, name("folder", folder)));
            Set<List<Object>> after = seen(look(other, name("folder", folder)));
            Set<List<Object>> both = new HashSet<>(before);
            both.retainAll(after);
            count += before.size() + after.size() - 2L * both.size();
        }
        return count;
    }

    private Set<List<Object>> seen(long folder) throws IOException {
        Set<List<Object>> seen = new HashSet<>();
        List<Long> retained = new ArrayList<>();
        volume.list(folder, 0, true, (name, inode, type, cookie, attributes) -> {
            if (attributes != null) {
                seen.add(List.of(ByteBuffer.wrap(name), attributes.modifiedNs(), attributes.size()));
                retained.add(inode);
            }
            return true;
        });
        for (long inode : retained) {
            volume.forget(inode, 1);
        }
        return seen;
    }

    /** Creates one file, so that a snapshot has something of its own. */
    void createOne() throws IOException {
        byte[] name = name("one-" + createdAnywhere, newFolders++);
        volume.forget(volume.makeNode(Inode.ROOT, name, 0100644, 0, OWNER).inode(), 1);
    }

    /** Deletes snapshots, and waits until what only they had is freed. */
    void deleteSnapshots(List<String> names) throws IOException {
        for (String name : names) {
            volume.snapshots().delete(name);
        }
        try {
            volume.snapshots().freed().get();
        } catch (InterruptedException | ExecutionException e) {
            throw new IOException(e);
        }
        volume.sync();
    }

    /** Lists the snapshots by their folder, as a program does. */
    List<byte[]> listSnapshots() throws IOException {
        return list(look(Inode.ROOT, ".snapshots".getBytes(StandardCharsets.UTF_8)));
    }

    /** Makes a folder, fills it with empty files, and removes them, all durably. The folder stays. */
    long fillAndEmpty(int count) throws IOException {
        long folder = makeFolder(name("emptied", 0));
        for (int i = 0; i < count; i++) {
            volume.forget(
                    volume.makeNode(folder, name("file", i), 0100644, 0, OWNER).inode(), 1);
        }
        volume.sync();
        removeAll(folder);
        volume.sync();
        return folder;
    }

    void removeEmptied() throws IOException {
        volume.removeDirectory(Inode.ROOT, name("emptied", 0));
    }

    @Override
    public void close() throws IOException {
        volume.close();
    }
}
