package org.opendedup.sar.metadata.quota;

import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaId.Kind;
import org.opendedup.sar.metadata.record.QuotaLimits;
import org.opendedup.sar.metadata.record.QuotaRecord;

/**
 * What the files of each user, group and project use, and their limits. Each file is charged to an {@link Account}.
 *
 * <p>Two amounts of bytes are kept. What is <i>counted</i> is the sum over the inodes of the pending metadata: it
 * changes under the change lock, together with the inode, and {@link #freeze} puts it into the same generation; so it
 * is exact after a crash. What is <i>taken</i> is compared with the limits: it has the accepted bytes that are not
 * stored, too. An inode is counted at once.
 *
 * <p>The monitor guards everything, so limits are compared and amounts changed in one step. It is held for a few
 * additions, and no other lock is acquired with it.
 */
public final class Quotas {
    private record Ids(int uid, int gid, int project) {}

    private final Map<QuotaId, Usage> usages = new HashMap<>();
    /** Those that differ from their records. */
    private final List<Usage> changed = new ArrayList<>();

    private final Map<Ids, Account> accounts = new ConcurrentHashMap<>();
    /** The account asked for last: files are made one after the other for the same. */
    private volatile @Nullable Account last;

    private InstantSource clock = InstantSource.system();

    /** Reads the records of a database. */
    public static Quotas open(KeyValueStore database) throws IOException {
        Quotas quotas = new Quotas();
        try (Cursor cursor = database.scan(Family.SYSTEM, QuotaId.FIRST_KEY, QuotaId.END_KEY)) {
            while (cursor.next()) {
                QuotaId id = QuotaId.ofKey(cursor.key());
                quotas.usages.put(id, new Usage(id, QuotaRecord.decode(id, cursor.value())));
            }
        }
        return quotas;
    }

    /** Sets the clock of the grace times. */
    public synchronized void useClock(InstantSource newClock) {
        clock = newClock;
    }

    /** @param project 0 for none */
    public Account account(int uid, int gid, int project) {
        Account known = last;
        if (known == null || !known.is(uid, gid, project)) {
            known = accounts.computeIfAbsent(new Ids(uid, gid, project), this::newAccount);
            last = known;
        }
        return known;
    }

    private synchronized Account newAccount(Ids ids) {
        return new Account(
                usage(Kind.USER, ids.uid),
                usage(Kind.GROUP, ids.gid),
                ids.project == 0 ? null : usage(Kind.PROJECT, ids.project));
    }

    private Usage usage(Kind kind, int id) {
        return usages.computeIfAbsent(new QuotaId(kind, id), key -> new Usage(key, QuotaRecord.NONE));
    }

    /**
     * Takes bytes that a file is going to have, if all its limits admit them.
     *
     * @return whether they were taken
     */
    public synchronized boolean tryTake(Account account, long bytes) {
        if (refusing(account, bytes, 0) != null) {
            return false;
        }
        change(account, bytes);
        return true;
    }

    /** Changes the taken bytes by what is not to be refused: what is given back, stored, or root's. */
    public synchronized void change(Account account, long bytes) {
        if (bytes != 0) {
            take(account.user, bytes);
            take(account.group, bytes);
            if (account.project != null) {
                take(account.project, bytes);
            }
        }
    }

    private void take(Usage usage, long bytes) {
        if (usage.bytes.add(bytes, clock)) {
            note(usage);
        }
    }

    /** Checks that bytes could be taken now, and takes nothing. EDQUOT. */
    public synchronized void check(Account account, long bytes) throws PosixException {
        refuse(account, bytes, 0);
    }

    /**
     * Counts a new inode, as a change under the change lock. EDQUOT.
     *
     * @param isExempt whether limits do not matter, as for root
     */
    public synchronized void addFile(Account account, boolean isExempt) throws PosixException {
        if (!isExempt) {
            refuse(account, 0, 1);
        }
        count(account, 0, 1);
    }

    /** Changes what is counted, as a change under the change lock. */
    public synchronized void count(Account account, long bytes, long files) {
        if (bytes != 0 || files != 0) {
            count(account.user, bytes, files);
            count(account.group, bytes, files);
            if (account.project != null) {
                count(account.project, bytes, files);
            }
        }
    }

    private void count(Usage usage, long bytes, long files) {
        usage.countedBytes += bytes;
        usage.files.add(files, clock);
        note(usage);
    }

    /** What of an inode is charged: its counted and its taken bytes. */
    public record Charge(long countedBytes, long takenBytes) {}

    /**
     * Charges an inode to another account, as a change under the change lock. EDQUOT, and nothing is changed, if a
     * limit of whoever is new does not admit it.
     *
     * @param isExempt whether limits do not matter, as for root
     */
    public synchronized void move(Account from, Account to, Charge charge, boolean isExempt) throws PosixException {
        if (!isExempt) {
            for (Usage usage : usagesOf(to)) {
                if (!usagesOf(from).contains(usage)) {
                    refuse(usage, charge.takenBytes, 1);
                }
            }
        }
        for (Usage usage : usagesOf(from)) {
            move(usage, charge, -1);
        }
        for (Usage usage : usagesOf(to)) {
            move(usage, charge, 1);
        }
    }

    private void move(Usage usage, Charge charge, int sign) {
        // The grace time of one that is the old and the new one must not begin anew: it is marked at the end.
        usage.bytes.taken += sign * charge.takenBytes;
        usage.countedBytes += sign * charge.countedBytes;
        usage.files.taken += sign;
        if (sign > 0) {
            usage.bytes.mark(clock);
            usage.files.mark(clock);
        }
        note(usage);
    }

    private static List<Usage> usagesOf(Account account) {
        Usage project = account.project;
        return project == null ? List.of(account.user, account.group) : List.of(account.user, account.group, project);
    }

    private void note(Usage usage) {
        if (!usage.isChanged) {
            usage.isChanged = true;
            changed.add(usage);
        }
    }

    /** Returns whose limits do not admit this; null if all do. */
    private @Nullable Usage refusing(Account account, long bytes, long files) {
        if (!account.user.admits(bytes, files, clock)) {
            return account.user;
        }
        if (!account.group.admits(bytes, files, clock)) {
            return account.group;
        }
        Usage project = account.project;
        return project == null || project.admits(bytes, files, clock) ? null : project;
    }

    private void refuse(Account account, long bytes, long files) throws PosixException {
        Usage refusing = refusing(account, bytes, files);
        if (refusing != null) {
            throw exceeded(refusing, bytes);
        }
    }

    private void refuse(Usage usage, long bytes, long files) throws PosixException {
        if (!usage.admits(bytes, files, clock)) {
            throw exceeded(usage, bytes);
        }
    }

    private PosixException exceeded(Usage usage, long bytes) {
        boolean isOfBytes = !usage.bytes.admits(bytes, usage.graceSeconds, clock);
        Amount amount = isOfBytes ? usage.bytes : usage.files;
        return new PosixException(
                Reason.EDQUOT,
                "the quota of " + usage.id + " is used: it has " + amount.used()
                        + (isOfBytes ? " bytes, wants " + bytes + " more" : " files, wants one more")
                        + ", and may have " + amount.soft + " for a time and " + amount.hard
                        + " at most (0: no limit)");
    }

    /** Sets limits, as a change under the change lock. */
    public synchronized void setLimits(QuotaId id, QuotaLimits limits) {
        Usage usage = usage(id.kind(), id.id());
        usage.setLimits(limits);
        usage.bytes.mark(clock);
        usage.files.mark(clock);
        note(usage);
    }

    /** Makes a project for a folder, as a change under the change lock; returns its number, the first free one. */
    public synchronized int newProject(long folder) {
        int id = 1;
        while (usages.containsKey(new QuotaId(Kind.PROJECT, id))) {
            id++;
        }
        Usage usage = usage(Kind.PROJECT, id);
        usage.folder = folder;
        note(usage);
        return id;
    }

    /** Returns the state of one user, group or project. */
    public synchronized QuotaState state(QuotaId id) {
        return QuotaState.of(usages.getOrDefault(id, new Usage(id, QuotaRecord.NONE)));
    }

    /** Returns the states of all that have a file or a limit, by kinds and numbers. */
    public synchronized List<QuotaState> states() {
        return usages.values().stream()
                .filter(usage -> !isNone(usage))
                .map(QuotaState::of)
                .sorted(Comparator.comparing((QuotaState state) -> state.id().kind())
                        .thenComparing(state -> state.id().number()))
                .toList();
    }

    private static boolean isNone(Usage usage) {
        return usage.bytes.used() == 0 && usage.record().equals(QuotaRecord.NONE);
    }

    /** What is left of a quota, for statfs(2); a limit of 0 is none. */
    public record Left(long limitBytes, long leftBytes, long limitFiles, long leftFiles) {}

    /** Returns what is left of the quota of an account's project; null if it has no project. */
    public synchronized @Nullable Left leftOfProject(Account account) {
        Usage project = account.project;
        return project == null
                ? null
                : new Left(
                        project.bytes.shownLimit(),
                        project.bytes.left(),
                        project.files.shownLimit(),
                        project.files.left());
    }

    /** Returns how many bytes all quotas of an account still admit; {@link Long#MAX_VALUE}: they limit none. */
    public synchronized long leftBytes(Account account) {
        long left = Long.MAX_VALUE;
        for (Usage usage : usagesOf(account)) {
            left = Math.min(left, usage.bytes.admitted(usage.graceSeconds, clock));
        }
        return left;
    }

    /** Changes the bytes that are used besides those taken, until they are measured again. */
    public synchronized void changeMeasured(Account account, long bytes) {
        for (Usage usage : usagesOf(account)) {
            usage.bytes.measured += bytes;
            if (usage.bytes.mark(clock)) {
                note(usage);
            }
        }
    }

    /**
     * Sets the bytes that are used besides those taken, as measured last.
     *
     * @param bytes by account; what has none uses none
     */
    public synchronized void measured(Map<Account, Long> bytes) {
        usages.values().forEach(usage -> usage.bytes.measured = 0);
        bytes.forEach((account, more) -> usagesOf(account).forEach(usage -> usage.bytes.measured += more));
        usages.values().forEach(usage -> {
            if (usage.bytes.mark(clock)) {
                note(usage);
            }
        });
    }

    /** Puts what changed into the pending generation. Called when no change runs, before the generation is frozen. */
    public synchronized void freeze(Overlay overlay) {
        for (Usage usage : changed) {
            if (usage.id.kind() == Kind.PROJECT && usage.files.taken == 0) {
                // Its folder is removed.
                usage.folder = 0;
                usage.setLimits(QuotaLimits.NONE);
                usage.bytes.mark(clock);
                usage.files.mark(clock);
            }
            QuotaRecord record = usage.record();
            if (record.equals(QuotaRecord.NONE)) {
                overlay.remove(Family.SYSTEM, usage.id.key());
            } else {
                overlay.put(Family.SYSTEM, usage.id.key(), record.encode());
            }
            usage.isChanged = false;
        }
        changed.clear();
    }
}
