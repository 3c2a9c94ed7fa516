package org.opendedup.sar.metadata.versions;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Keys;
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
     * Adds the versions to keep to a batch, before what replaces them.
     *
     * @param changes of one family; an empty value removes a record
     * @param kept versions that the changes themselves have
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
        for (Map.Entry<byte[], byte[]> change : changes.entrySet()) {
            byte[] key = change.getKey();
            if (Keys.longAt(key, 0) < rule.firstFreeInode) {
                byte[] version = VersionKeys.version(kind, key, rule.birth);
                byte[] before = kept.containsKey(version) ? null : present(database, family, key);
                // What has the birth of the record that it replaces takes its place in the snapshots, too.
                if (before != null
                        && rule.keeps(Births.of(before))
                        && (change.getValue().length == 0 || Births.of(change.getValue()) != Births.of(before))) {
                    batch.put(Family.VERSION, version, before);
                    batch.put(Family.DEATH, VersionKeys.death(rule.birth, Births.of(before), kind, key), DEATH);
                }
            }
        }
    }

    private static byte @Nullable [] present(KeyValueStore database, Family family, byte[] key) throws IOException {
        try {
            return database.get(family, key);
        } catch (CorruptionException e) {
            log.error("a record that is being replaced cannot be read: the snapshots lose it. {}", e.getMessage());
            return null;
        }
    }
}
