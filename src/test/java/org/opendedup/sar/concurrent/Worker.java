package org.opendedup.sar.concurrent;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.Modes;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * One thread of a round: makes random calls on few names, so that it meets the others, and records the results. Like
 * the kernel, it uses only inodes to which it holds a reference.
 */
final class Worker {
    static final List<String> NAMES = List.of("a", "b", "c", "d");
    /** Bytes are written and read around the beginning, a page of the kernel's, a recipe page, and a far end. */
    private static final long[] OFFSETS = {0, 3, 6, 4090, (256 << 10) - 4, 300_000};

    private static final int MAX_BYTES = 12;

    private final int thread;
    private final FileSystem fileSystem;
    private final Caller caller;
    private final AtomicLong clock;
    private final Lengths lengths;
    private final SplittableRandom random;
    private final List<Held> held = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    /** The first elements of {@link #held} that belong to the round, not to this thread. */
    private final int given;

    /** Whether the length in a file's attributes is from the same moment as the others. */
    enum Lengths {
        OF_THAT_MOMENT,
        /** Of a moment of its own during the call, as a raw file's, for which the fast tier is asked. */
        OF_THEIR_OWN
    }

    /** A usable inode. */
    record Held(long inode, int type) {
        static final Held ROOT = new Held(Inode.ROOT, Modes.DIRECTORY);

        boolean isDirectory() {
            return type == Modes.DIRECTORY;
        }

        boolean isRegular() {
            return type == Modes.REGULAR;
        }
    }

    /** @param given inodes that the caller holds until the round is over */
    Worker(
            int thread,
            FileSystem fileSystem,
            AtomicLong clock,
            Lengths lengths,
            SplittableRandom random,
            List<Held> given) {
        this.thread = thread;
        this.fileSystem = fileSystem;
        this.caller = new Caller(fileSystem);
        this.clock = clock;
        this.lengths = lengths;
        this.random = random;
        this.given = given.size();
        held.addAll(given);
    }

    /** Makes this number of calls, then forgets the references it held. */
    List<Event> work(int calls) {
        for (int i = 0; i < calls; i++) {
            if (random.nextInt(12) == 0) {
                list(directory());
            } else {
                make(next());
            }
            if (random.nextInt(4) == 0) {
                forgetOne();
            }
        }
        while (held.size() > given) {
            forgetOne();
        }
        return events;
    }

    private void make(Call call) {
        long invoked = clock.incrementAndGet();
        Answer answer = caller.call(call);
        long returned = clock.incrementAndGet();
        if (answer.size() != null && lengths == Lengths.OF_THEIR_OWN) {
            note(call, invoked, returned, answer.withSize(null));
            note(
                    new Call.Length(inodeOf(call, answer)),
                    invoked,
                    returned,
                    Answer.of("length").withSize(answer.size()));
        } else {
            note(call, invoked, returned, answer);
        }
        if (answer.inode() != 0) {
            held.add(new Held(answer.inode(), answer.type()));
        }
    }

    private static long inodeOf(Call call, Answer answer) {
        if (call instanceof Call.Stat stat) {
            return stat.inode();
        } else if (call instanceof Call.ChangeMode change) {
            return change.inode();
        } else if (call instanceof Call.ChangeOwner change) {
            return change.inode();
        }
        return answer.inode();
    }

    private void note(Call call, long invoked, long returned, Answer answer) {
        events.add(new Event(thread, call, invoked, returned, answer));
    }

    /** A listing is equivalent to a look-up of each name, each at its own moment during the listing. */
    private void list(long directory) {
        long invoked = clock.incrementAndGet();
        try {
            Map<String, Answer> listed = caller.list(directory);
            long returned = clock.incrementAndGet();
            TreeSet<String> names = new TreeSet<>(NAMES);
            names.addAll(listed.keySet());
            names.removeAll(List.of(".", ".."));
            for (String name : names) {
                Answer answer = listed.getOrDefault(name, Caller.NOT_LISTED);
                note(new Call.Listed(directory, name), invoked, returned, answer);
            }
        } catch (Exception | AssertionError e) {
            note(new Call.Listed(directory, ""), invoked, clock.incrementAndGet(), Answer.failed(e));
        }
    }

    private void forgetOne() {
        if (held.size() > given) {
            fileSystem.forget(
                    held.remove(given + random.nextInt(held.size() - given)).inode(), 1);
        }
    }

    private Call next() {
        int dice = random.nextInt(100);
        if (dice < 45) {
            return nextOnNames();
        } else if (dice < 75) {
            return nextOnBytes();
        }
        return nextOnInode();
    }

    private Call nextOnNames() {
        return switch (random.nextInt(20)) {
            case 0, 1, 2 -> new Call.Make(directory(), name());
            case 3, 4 -> new Call.MakeDirectory(directory(), name());
            case 5 -> new Call.MakeSymbolicLink(directory(), name(), "to" + random.nextInt(100));
            case 6, 7 -> new Call.Link(any(), directory(), name());
            case 8, 9, 10 -> new Call.Unlink(directory(), name());
            case 11 -> new Call.RemoveDirectory(directory(), name());
            case 12, 13, 14, 15 -> new Call.Rename(directory(), name(), directory(), name(), renameMode());
            default -> new Call.Lookup(directory(), name());
        };
    }

    private RenameMode renameMode() {
        int dice = random.nextInt(5);
        return dice == 0 ? RenameMode.EXCHANGE : dice == 1 ? RenameMode.NO_REPLACE : RenameMode.REPLACE;
    }

    private Call nextOnBytes() {
        long inode = regular();
        if (inode == 0) {
            return new Call.Lookup(directory(), name());
        }
        return switch (random.nextInt(10)) {
            case 0, 1, 2 -> new Call.Write(inode, offset(), text());
            case 3 -> new Call.Truncate(inode, offset() + random.nextInt(8));
            // Within one page of a recipe: a longer range may take several steps.
            case 4 -> new Call.Zero(inode, random.nextInt(8), 1 + random.nextInt(8));
            case 5 -> random.nextInt(4) == 0 ? new Call.SyncAll() : new Call.SyncFile(inode);
            default -> new Call.Read(inode, Math.max(0, offset() - 4), 1 + random.nextInt(2 * MAX_BYTES));
        };
    }

    private Call nextOnInode() {
        long inode = any();
        String attribute = "user." + random.nextInt(2);
        return switch (random.nextInt(10)) {
            case 0 -> new Call.ChangeMode(inode, random.nextInt(01000));
            case 1 -> new Call.ChangeOwner(inode, random.nextInt(3));
            case 2, 3 -> {
                SetMode mode = List.of(SetMode.values()).get(random.nextInt(3));
                yield new Call.SetAttribute(inode, attribute, text(), mode);
            }
            case 4 -> new Call.RemoveAttribute(inode, attribute);
            case 5, 6 -> new Call.GetAttribute(inode, attribute);
            case 7 -> new Call.ReadLink(inode);
            default -> new Call.Stat(inode);
        };
    }

    private String name() {
        return NAMES.get(random.nextInt(NAMES.size()));
    }

    /** The root half of the time. */
    private long directory() {
        Held found = random.nextBoolean() ? Held.ROOT : held.get(random.nextInt(held.size()));
        return found.isDirectory() ? found.inode() : Inode.ROOT;
    }

    private long any() {
        return held.get(random.nextInt(held.size())).inode();
    }

    /** A regular file, or 0. */
    private long regular() {
        int start = random.nextInt(held.size());
        for (int i = 0; i < held.size(); i++) {
            Held found = held.get((start + i) % held.size());
            if (found.isRegular()) {
                return found.inode();
            }
        }
        return 0;
    }

    private long offset() {
        return OFFSETS[random.nextInt(OFFSETS.length)];
    }

    private String text() {
        return String.valueOf((char) ('a' + random.nextInt(26))).repeat(1 + random.nextInt(MAX_BYTES));
    }
}
