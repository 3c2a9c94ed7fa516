package org.opendedup.sar.metadata.quota;

import java.io.IOException;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.QuotaId;
import org.opendedup.sar.metadata.record.QuotaRecord;

/**
 * The users, groups and projects in memory: those that an {@link Account} in use has, and more, up to a bound. The
 * others are read from their records when an account needs them, so that a volume may have files of any number of
 * users. The monitor guards the table, not the usages in it, and is not held while records are read.
 */
final class UsageTable {
    private record Ids(int uid, int gid, int project) {
        List<QuotaId> quotas() {
            QuotaId user = new QuotaId(QuotaId.Kind.USER, uid);
            QuotaId group = new QuotaId(QuotaId.Kind.GROUP, gid);
            return project == 0
                    ? List.of(user, group)
                    : List.of(user, group, new QuotaId(QuotaId.Kind.PROJECT, project));
        }
    }

    /** An account, as long as somebody uses it. */
    private static final class Known extends WeakReference<Account> {
        final Ids ids;
        final List<Usage> usages;

        Known(Ids ids, List<Usage> usages, Account account, ReferenceQueue<Account> unused) {
            super(account, unused);
            this.ids = ids;
            this.usages = usages;
        }
    }

    private final Overlay overlay;
    /** Those that are kept although nobody uses them, about. */
    private final int most;

    private final Map<QuotaId, Usage> usages = new HashMap<>();
    private final Map<Ids, Known> accounts = new ConcurrentHashMap<>();
    private final ReferenceQueue<Account> unused = new ReferenceQueue<>();
    /** The account asked for last: files are made one after the other for the same. */
    private volatile @Nullable Account last;
    /** How often some were dropped. */
    private long drops;
    /** Usages that no account has, among them those that must stay. */
    private int idle;
    /** The number of them from which on it is looked for some to drop. */
    private int mostIdle;

    UsageTable(Overlay overlay, int most) {
        this.overlay = overlay;
        this.most = most;
        mostIdle = most;
    }

    /** Visits all records, as of the last frozen generation. */
    void forEachRecord(RecordConsumer consumer) throws IOException {
        try (Cursor cursor = overlay.scan(Family.SYSTEM, QuotaId.FIRST_KEY, QuotaId.END_KEY)) {
            while (cursor.next()) {
                QuotaId id = QuotaId.ofKey(cursor.key());
                consumer.accept(id, QuotaRecord.decode(id, cursor.value()));
            }
        }
    }

    /** Receives records; see {@link #forEachRecord}. */
    @FunctionalInterface
    interface RecordConsumer {
        void accept(QuotaId id, QuotaRecord record) throws IOException;
    }

    /** Returns the account of a user, a group and a project. */
    Account account(int uid, int gid, int project) throws IOException {
        Account known = last;
        if (known == null || !known.is(uid, gid, project)) {
            Ids ids = new Ids(uid, gid, project);
            known = known(ids);
            if (known == null) {
                List<QuotaId> wanted = ids.quotas();
                known = loaded(
                        wanted,
                        () -> newAccount(ids, wanted.stream().map(usages::get).toList()));
            }
            last = known;
        }
        return known;
    }

    private @Nullable Account known(Ids ids) {
        Known found = accounts.get(ids);
        return found == null ? null : found.get();
    }

    private Account newAccount(Ids ids, List<Usage> parts) {
        Account other = known(ids);
        if (other != null) {
            return other;
        }
        Account account = new Account(parts.get(0), parts.get(1), parts.size() == 2 ? null : parts.get(2));
        accounts.put(ids, new Known(ids, parts, account, unused));
        for (Usage usage : parts) {
            if (usage.accounts++ == 0) {
                idle--;
            }
        }
        return account;
    }

    /**
     * Reads what a user and a group use, if it is not in memory: so a change that charges them need not wait for it.
     */
    void prepare(int uid, int gid) throws IOException {
        Account known = last;
        if (known == null || known.uid() != uid || known.gid() != gid) {
            for (QuotaId id : new Ids(uid, gid, 0).quotas()) {
                if (usageIfPresent(id) == null) {
                    usage(id);
                }
            }
        }
    }

    /** Returns the usage of one. It stays in memory for as long as no generation can be frozen. */
    Usage usage(QuotaId id) throws IOException {
        return loaded(List.of(id), () -> usages.get(id));
    }

    /** Returns the usage of one if it is in memory. */
    synchronized @Nullable Usage usageIfPresent(QuotaId id) {
        return usages.get(id);
    }

    synchronized int size() {
        return usages.size();
    }

    /** Visits those that are in memory. */
    synchronized void forEachPresent(Consumer<Usage> consumer) {
        usages.values().forEach(consumer);
    }

    /** Calls {@code use} with the monitor held, when these are in memory. */
    private <T> T loaded(List<QuotaId> ids, Supplier<T> use) throws IOException {
        while (true) {
            long before;
            List<QuotaId> missing;
            synchronized (this) {
                before = drops;
                missing = ids.stream().filter(id -> !usages.containsKey(id)).toList();
            }
            Map<QuotaId, QuotaRecord> records = new HashMap<>();
            for (QuotaId id : missing) {
                records.put(id, stored(id));
            }
            synchronized (this) {
                // Else one of them may have been read, changed and dropped by others since its record was read here.
                if (before == drops) {
                    records.forEach(this::put);
                    return use.get();
                }
            }
        }
    }

    private void put(QuotaId id, QuotaRecord record) {
        if (usages.putIfAbsent(id, new Usage(id, record)) == null) {
            idle++;
        }
    }

    /** Returns the record of one, as of the last frozen generation. */
    QuotaRecord stored(QuotaId id) throws IOException {
        byte[] value = overlay.get(Family.SYSTEM, id.key());
        return value == null ? QuotaRecord.NONE : QuotaRecord.decode(id, value);
    }

    /**
     * Drops those that no account in use has, if there are many. Called when no change runs.
     *
     * @param isStored whether a usage is what its record says, and may be dropped
     */
    synchronized void drop(Predicate<Usage> isStored) {
        for (Known gone = (Known) unused.poll(); gone != null; gone = (Known) unused.poll()) {
            accounts.remove(gone.ids, gone);
            for (Usage usage : gone.usages) {
                if (--usage.accounts == 0) {
                    idle++;
                }
            }
        }
        if (idle > mostIdle) {
            int before = usages.size();
            usages.values().removeIf(usage -> usage.accounts == 0 && isStored.test(usage));
            idle -= before - usages.size();
            drops++;
            // Each commit calls this: those that must stay must not be looked at each time.
            mostIdle = most + 2 * idle;
        }
    }
}
