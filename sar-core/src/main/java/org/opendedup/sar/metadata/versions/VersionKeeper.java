package org.opendedup.sar.metadata.versions;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.metadata.record.VersionKeys;
import org.opendedup.sar.metadata.record.VersionKeys.Kind;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the versions of records that a commit replaces, and that a snapshot has: they are copied in the batch that
 * replaces them, from the database, which has all changes up to the snapshot by then. A commit that failed is tried
 * again with the same result, whether or not it is in the database: what it wrote was born too late to be kept.
 */
public final class VersionKeeper {
    private static final Logger log = LoggerFactory.getLogger(VersionKeeper.class);

    /** The value of a death's record: its version. */
    public static final byte[] DEATH = {1};

    /**
     * Which records the changes of a generation must keep.
     *
     * @param birth of the records of the generation, and the death of those that they replace
     * @param newest snapshot when the generation began; 0 if there was none
     * @param firstFreeInode records of inodes from this number on are in no snapshot
     */
    public record Rule(long birth, long newest, long firstFreeInode) {
        public static final Rule NONE = new Rule(0, 0, 0);

        public static Rule of(Snapshots snapshots) {
            return new Rule(snapshots.birth(), snapshots.newest(), snapshots.firstFreeInode());
        }

        /** Returns whether a record that was born then is kept when it is replaced. */
        public boolean keeps(long bornIn) {
            return newest > 0 && bornIn <= newest;
        }
    }

    private VersionKeeper() {}

    /**
     * Adds the versions to keep to a batch, before what replaces them. In place of a record that is damaged, or in a
     * block that the disk does not return, it adds {@link ValueReader#UNREAD}: the snapshots that had it then say so,
     * and the volume goes on.
     *
     * @param changes of one family; an empty value removes a record
     * @param kept versions that the changes themselves have
     * @throws IOException if the database could not be asked, so that nothing is known about a record
     */
    public static void keep(
            KeyValueStore database,
            Batch batch,
            Rule rule,
            Family family,
            Map<byte[], byte[]> changes,
            Map<byte[], byte[]> kept)
            throws IOException {
        Kind kind = Kinds.of(family);
        if (rule.newest == 0 || kind == null) {
            return;
        }
        long unread = 0;
        IOException why = null;
        for (Map.Entry<byte[], byte[]> change : changes.entrySet()) {
            byte[] key = change.getKey();
            byte[] now = change.getValue();
            byte[] version = VersionKeys.version(kind, key, rule.birth);
            if (Keys.longAt(key, 0) >= rule.firstFreeInode || kept.containsKey(version)) {
                continue;
            }
            byte[] before;
            // What has the birth of the record that it replaces takes its place in the snapshots, too.
            boolean takesItsPlace;
            try {
                before = readTwice(database, family, key);
                takesItsPlace = before != null && now.length > 0 && Births.of(now) == Births.of(before);
            } catch (IOException e) {
                NoAnswer.rethrow(e);
                before = unread(database, kind, key, rule);
                // Other changes have a birth that no snapshot reaches.
                takesItsPlace = now.length > 0 && rule.keeps(Births.of(now));
                why = e;
                unread += rule.keeps(Births.of(before)) && !takesItsPlace ? 1 : 0;
            }
            if (before != null && rule.keeps(Births.of(before)) && !takesItsPlace) {
                batch.put(Family.VERSION, version, before);
                batch.put(Family.DEATH, VersionKeys.death(rule.birth, Births.of(before), kind, key), DEATH);
            }
        }
        if (unread > 0) {
            log.error(
                    "{} records ({}) that are being replaced cannot be read, and snapshots may have them: what they had"
                            + " there cannot be read in them any more; a check names them",
                    unread,
                    kind,
                    why);
        }
    }

    /** Reads a record, and once more if the disk does not return it: what it loses here, snapshots lose for ever. */
    private static byte @Nullable [] readTwice(KeyValueStore database, Family family, byte[] key) throws IOException {
        try {
            return read(database, family, key);
        } catch (IOException first) {
            NoAnswer.rethrow(first);
            return read(database, family, key);
        }
    }

    private static byte @Nullable [] read(KeyValueStore database, Family family, byte[] key) throws IOException {
        byte[] record = database.get(family, key);
        if (record != null && record.length == 0) {
            // See ValueReader.CHANGED.
            throw new CorruptionException("metadata database", -1, "a record", "one that was changed or exchanged");
        }
        return record;
    }

    /**
     * Returns what is kept in place of a record that cannot be read: in all snapshots since its last version, because
     * its birth is not known. If that version died with the birth of the changes, no snapshot has the record. If the
     * versions cannot be read either, it is in all snapshots: readers take an older version where there is one.
     */
    private static byte[] unread(KeyValueStore database, Kind kind, byte[] key, Rule rule) throws IOException {
        long born = 0;
        byte[] from = VersionKeys.version(kind, Arrays.copyOf(key, kind.numberBytes()), 0);
        byte[] to = VersionKeys.version(kind, Arrays.copyOf(key, kind.numberBytes()), rule.birth + 1);
        try (Cursor versions = database.scan(Family.VERSION, from, to)) {
            while (versions.next()) {
                long death = VersionKeys.deathOf(kind, versions.key());
                if (Arrays.equals(versions.key(), VersionKeys.version(kind, key, death))) {
                    born = death;
                }
            }
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            born = 0;
        }
        return Births.stamped(ValueReader.UNREAD, born);
    }
}
