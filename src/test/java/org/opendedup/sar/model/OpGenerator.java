package org.opendedup.sar.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * Makes ops from a seed. It executes each on its own model, so that most ops use existing files; about one in eight
 * uses random names, and is often refused.
 */
public final class OpGenerator {
    static final Owner OWNER = new Owner(1000, 100);
    /** Times that ops set are before this (about the year 2000), times of changes after it. */
    static final long CENTURY_NS = 946_000_000L * 1_000_000_000L;

    private static final String LONGEST_NAME = "n".repeat(255);
    private static final String[] NAMES = {"a", "b", "c", "d", "e", "\u00e9\u00ff", LONGEST_NAME};
    private static final String[] ATTRIBUTES = {"user.one", "user.two", "trusted.three"};
    private static final int MAX_DEPTH = 4;
    private static final long MAX_FILE_BYTES = 3 << 20;
    private static final int STREAMS = 6;

    /** Sizes with a border: page cache, fixed chunk, average and largest chunk, recipe page. */
    private static final int[] BORDERS = {4096, 8192, 65536, 262144, 524288};

    private final SplittableRandom random;
    private final ModelFileSystem model = new ModelFileSystem();
    private final OpRunner runner = new OpRunner(model);
    private final boolean withRemounts;
    private final List<String> files = new ArrayList<>();
    private final List<String> directories = new ArrayList<>();

    /** @param withRemounts whether to close and open the file system, and to read all of it, from time to time */
    public OpGenerator(long seed, boolean withRemounts) {
        random = new SplittableRandom(seed);
        this.withRemounts = withRemounts;
        directories.add("");
    }

    public List<Op> ops(int count) {
        List<Op> ops = new ArrayList<>(count);
        while (ops.size() < count) {
            Op op = next();
            runner.run(op);
            if (changesNames(op)) {
                refreshNames();
            }
            ops.add(op);
            if (op instanceof Op.Remount) {
                ops.add(new Op.Usage());
            }
        }
        return ops;
    }

    private static boolean changesNames(Op op) {
        return op instanceof Op.Create
                || op instanceof Op.MakeDirectory
                || op instanceof Op.Link
                || op instanceof Op.LinkUnnamed
                || op instanceof Op.Unlink
                || op instanceof Op.RemoveDirectory
                || op instanceof Op.Rename
                || op instanceof Op.RenameLeavingWhiteout;
    }

    private void refreshNames() {
        files.clear();
        directories.clear();
        try {
            for (Map.Entry<String, Attributes> entry : new Listing(model).tree().entrySet()) {
                (Modes.isDirectory(entry.getValue().mode()) ? directories : files).add(entry.getKey());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the model refused", e);
        }
    }

    private Op next() {
        int dice = random.nextInt(100);
        if (dice < 38) {
            return nextOnBytes();
        } else if (dice < 54) {
            return nextOnHandle();
        } else if (dice < 84) {
            return nextOnNames();
        } else if (dice < 97) {
            return nextOnAttributes();
        }
        return nextOnAll();
    }

    private Op nextOnBytes() {
        return switch (random.nextInt(17)) {
            case 0, 1, 2, 3 -> new Op.Write(file(), offset(), content());
            case 4, 5 -> new Op.Append(file(), content());
            case 6, 7 -> new Op.Read(file(), offset(), length());
            case 8 -> new Op.Truncate(file(), random.nextInt(8) == 0 ? random.nextInt(16 << 20) : offset());
            case 9 -> new Op.SyncFile(file(), random.nextBoolean());
            default -> nextOnRange();
        };
    }

    private Op nextOnRange() {
        return switch (random.nextInt(10)) {
            case 0 -> new Op.Allocate(file(), offset(), length(), random.nextBoolean());
            case 1, 2, 3 -> new Op.Zero(file(), offset(), length(), random.nextBoolean());
            case 4, 5 -> copyWithin(file());
            case 6, 7, 8 -> new Op.CopyRange(file(), offset(), file(), offset(), copyLength());
            default -> new Op.SeekHoles(file(), offset());
        };
    }

    /** A copy from one place of a file to another, often an aligned one. */
    private Op copyWithin(String file) {
        long from = offset();
        return new Op.CopyRange(file, from, file, random.nextBoolean() ? offset() : from + length(), copyLength());
    }

    private int copyLength() {
        return length() + random.nextInt(4) * length();
    }

    private Op nextOnHandle() {
        int slot = random.nextInt(OpRunner.SLOTS);
        return switch (random.nextInt(11)) {
            case 10 -> new Op.CopyHandle(slot, offset(), random.nextInt(OpRunner.SLOTS), offset(), copyLength());
            case 0, 1, 2 -> new Op.Open(slot, file(), true);
            case 3, 4, 5 -> new Op.WriteHandle(slot, offset(), content());
            case 6, 7 -> new Op.ReadHandle(slot, offset(), length());
            case 8 -> random.nextBoolean() ? new Op.SyncHandle(slot, random.nextBoolean()) : new Op.Close(slot);
            default -> new Op.StatHandle(slot);
        };
    }

    private Op nextOnNames() {
        return switch (random.nextInt(20)) {
            case 0, 1, 2, 3, 4 -> new Op.Create(fresh(), random.nextInt(01000));
            case 5 -> new Op.LinkUnnamed(fresh(), random.nextInt(01000), content());
            case 6, 7 -> new Op.MakeDirectory(fresh(), 0700 | random.nextInt(0100));
            case 8 -> new Op.MakeSymbolicLink(fresh(), random.nextBoolean() ? "../a" : "/somewhere/" + LONGEST_NAME);
            case 9 -> new Op.MakeFifo(fresh());
            case 10, 11 -> new Op.Link(any(), fresh());
            case 12, 13, 14 -> new Op.Unlink(any());
            case 15 -> new Op.RemoveDirectory(any());
            case 16 -> new Op.Rename(any(), fresh(), renameMode());
            case 17 -> new Op.RenameLeavingWhiteout(any(), random.nextBoolean() ? fresh() : any());
            default -> new Op.Rename(any(), any(), renameMode());
        };
    }

    private RenameMode renameMode() {
        int dice = random.nextInt(5);
        return dice == 0 ? RenameMode.EXCHANGE : dice == 1 ? RenameMode.NO_REPLACE : RenameMode.REPLACE;
    }

    private Op nextOnAttributes() {
        return switch (random.nextInt(11)) {
            case 10 -> new Op.ChargeFolder(random.nextInt(8) == 0 ? file() : directory());
            case 0 -> new Op.ChangeMode(any(), random.nextInt(010000));
            case 1 -> new Op.ChangeOwner(any(), random.nextInt(3), random.nextInt(3));
            case 2 -> new Op.ChangeTimes(any(), random.nextLong(-CENTURY_NS, CENTURY_NS), random.nextLong(CENTURY_NS));
            case 3, 4 ->
                new Op.SetAttribute(
                        fileOrDirectory(), pick(ATTRIBUTES), "v".repeat(random.nextInt(300)), pick(SetMode.values()));
            case 5 -> new Op.RemoveAttribute(fileOrDirectory(), pick(ATTRIBUTES));
            case 6, 7 -> new Op.Stat(any());
            case 8 -> new Op.ReadLink(any());
            default -> new Op.ListDirectory(directory(), 1 + random.nextInt(5), random.nextBoolean());
        };
    }

    private Op nextOnAll() {
        if (!withRemounts) {
            return new Op.SyncAll();
        }
        return switch (random.nextInt(6)) {
            case 0 -> new Op.Remount();
            case 1, 2 -> new Op.Verify();
            default -> new Op.SyncAll();
        };
    }

    private String file() {
        return files.isEmpty() || random.nextInt(16) == 0 ? fresh() : pick(files);
    }

    private String directory() {
        return pick(directories);
    }

    private String fileOrDirectory() {
        return random.nextInt(4) == 0 ? directory() : file();
    }

    private String any() {
        int dice = random.nextInt(8);
        return dice == 0 ? fresh() : dice == 1 && directories.size() > 1 ? lastOf(directories) : file();
    }

    /** A directory below the root, preferably a deep one. */
    private String lastOf(List<String> sorted) {
        return sorted.get(1 + random.nextInt(sorted.size() - 1));
    }

    /** A path that may or may not exist. */
    private String fresh() {
        String directory = directory();
        String name = pick(NAMES);
        boolean deep = directory.chars().filter(c -> c == '/').count() >= MAX_DEPTH - 2;
        return directory.isEmpty() || deep ? name : directory + "/" + name;
    }

    private long offset() {
        return Math.min(
                MAX_FILE_BYTES, random.nextInt(4) == 0 ? 0 : length() + (random.nextInt(3) == 0 ? length() : 0));
    }

    private int length() {
        int border = pick(BORDERS);
        return switch (random.nextInt(6)) {
            case 0 -> border;
            case 1 -> border - 1;
            case 2 -> border + 1;
            case 3 -> random.nextInt(100);
            case 4 -> random.nextInt(1 << 14);
            default -> random.nextInt(1 << 17);
        };
    }

    private Content content() {
        long skip = random.nextBoolean() ? 0 : pick(BORDERS) + (random.nextInt(4) == 0 ? 1 : 0);
        return new Content(random.nextInt(STREAMS), skip, length());
    }

    private int pick(int[] values) {
        return values[random.nextInt(values.length)];
    }

    private <T> T pick(T[] values) {
        return values[random.nextInt(values.length)];
    }

    private <T> T pick(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }
}
