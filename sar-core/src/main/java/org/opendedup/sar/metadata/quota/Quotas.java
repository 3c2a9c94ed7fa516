package org.opendedup.sar.metadata.quota;

import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
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
 * <p>Most users need not be in memory: {@link UsageTable}.
 *
 * <p>The monitor guards everything but that table, so limits are compared and amounts changed in one step. It is held
 * for a few additions, and no lock but the table's is acquired with it.
 */
public final class Quotas {
    private static final Comparator<QuotaId> ORDER =
            Comparator.comparing(QuotaId::kind).thenComparing(QuotaId::number);

    /** Users, groups and projects that stay in memory when no inode in memory is charged to them: 1.2 MB. */
    private static final int MOST_UNUSED = 4096;

    private final UsageTable usages;
    /** Those that differ from their records. */
    private final List<Usage> changed = new ArrayList<>();
    /** Those that have a limit. */
    private final Set<Usage> limited = new HashSet<>();

    private InstantSource clock = InstantSource.system();

    private Quotas(UsageTable usages) {
        this.usages = usages;
    }

    /** Opens the quotas of a volume. Visits all records. */
    public static Quotas open(Overlay overlay) throws IOException {
        return open(overlay, MOST_UNUSED);
    }

    /** @param mostUnused how many stay in memory when no inode in memory is charged to them, about */
    static Quotas open(Overlay overlay, int mostUnused) throws IOException {
        Quotas quotas = new Quotas(new UsageTable(overlay, mostUnused));
        quotas.usages.forEachRecord((id, record) -> {
            if (id.kind() == Kind.PROJECT || !record.limits().areNone()) {
                quotas.noteLimits(quotas.usages.usage(id));
            }
        });
        return quotas;
    }

    /** Returns the number of users, groups and projects in memory. */
    int inMemory() {
        return usages.size();
    }

    /** Sets the clock of the grace times. */
    public synchronized void useClock(InstantSource newClock) {
        clock = newClock;
    }

    /** @param project 0 for none */
    public Account account(int uid, int gid, int project) throws IOException {
        return usages.account(uid, gid, project);
    }

    /** Reads what a user and a group use, so that a change of theirs waits for no disk. Called without a lock. */
    public void prepare(int uid, int gid) throws IOException {
        usages.prepare(uid, gid);
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
    public void setLimits(QuotaId id, QuotaLimits limits) throws IOException {
        Usage usage = usages.usage(id);
        synchronized (this) {
            setLimits(usage, limits);
            note(usage);
        }
    }

    private void setLimits(Usage usage, QuotaLimits limits) {
        usage.setLimits(limits);
        usage.bytes.mark(clock);
        usage.files.mark(clock);
        noteLimits(usage);
    }

    private void noteLimits(Usage usage) {
        if (usage.limits().areNone()) {
            limited.remove(usage);
        } else {
            limited.add(usage);
        }
    }

    /**
     * How many limits are used.
     *
     * @param limited users, groups and projects that have a limit
     * @param overSoft those of them that exceed a soft limit
     * @param reached those of them of which less than 1 % can be taken now
     */
    public record Use(int limited, int overSoft, int reached) {}

    /** Returns how many limits are used. */
    public synchronized Use use() {
        int overSoft = 0;
        int reached = 0;
        for (Usage usage : limited) {
            overSoft += usage.bytes.overSinceMs != 0 || usage.files.overSinceMs != 0 ? 1 : 0;
            reached += usage.isReached(clock) ? 1 : 0;
        }
        return new Use(limited.size(), overSoft, reached);
    }

    /** Makes a project for a folder, as a change under the change lock; returns its number, the first free one. */
    public int newProject(long folder) throws IOException {
        int id = 1;
        while (usages.usageIfPresent(new QuotaId(Kind.PROJECT, id)) != null) {
            id++;
        }
        Usage usage = usages.usage(new QuotaId(Kind.PROJECT, id));
        synchronized (this) {
            usage.folder = folder;
            note(usage);
        }
        return id;
    }

    /**
     * Notes the folder of a project that a rollback brings back, as a change under the change lock. Limits stay if they
     * are those of this folder: the number may have been another one's meanwhile.
     */
    public void restoreProject(int project, long folder) throws IOException {
        Usage usage = usages.usage(new QuotaId(Kind.PROJECT, project));
        synchronized (this) {
            if (usage.folder != folder) {
                usage.folder = folder;
                setLimits(usage, QuotaLimits.NONE);
                note(usage);
            }
        }
    }

    /** Returns the state of one user, group or project. */
    public QuotaState state(QuotaId id) throws IOException {
        Usage present = usages.usageIfPresent(id);
        Usage usage = present == null ? new Usage(id, usages.stored(id)) : present;
        synchronized (this) {
            return QuotaState.of(usage);
        }
    }

    /** Returns the states of all that have a file or a limit, by kinds and numbers. */
    public List<QuotaState> states() throws IOException {
        Map<QuotaId, QuotaState> found = new TreeMap<>(ORDER);
        usages.forEachRecord((id, record) -> found.put(id, QuotaState.of(new Usage(id, record))));
        synchronized (this) {
            usages.forEachPresent(usage -> {
                if (isNone(usage)) {
                    found.remove(usage.id);
                } else {
                    found.put(usage.id, QuotaState.of(usage));
                }
            });
        }
        return List.copyOf(found.values());
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
        usages.forEachPresent(usage -> usage.bytes.measured = 0);
        bytes.forEach((account, more) -> usagesOf(account).forEach(usage -> usage.bytes.measured += more));
        usages.forEachPresent(usage -> {
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
                setLimits(usage, QuotaLimits.NONE);
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
        usages.drop(Usage::isStored);
    }
}
