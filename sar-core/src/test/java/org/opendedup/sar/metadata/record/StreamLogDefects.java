package org.opendedup.sar.metadata.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Batch;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;

/** Changes the stream logs in the database of a volume of chunks that is not open. */
public enum StreamLogDefects {
    /** None is left. */
    LOST,
    /** Every second page is left, and half of the hooks. */
    HALF,
    /** Records have a flipped bit. */
    FLIPPED,
    /** Each page has the references of another one, with the right checksum; fingerprints are those of others, too. */
    EXCHANGED;

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Stored(byte[] key, byte[] value) {}

    /** Returns the number of records that were changed. */
    public int make(KeyValueStore database, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        List<Stored> records = new ArrayList<>();
        try (Cursor cursor = database.scan(Family.RECIPE, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                records.add(new Stored(cursor.key().clone(), cursor.value().clone()));
            }
        }
        int changed = 0;
        try (Batch batch = database.batch()) {
            for (Stored record : records) {
                changed += change(record, records, batch, random) ? 1 : 0;
            }
            batch.commit();
        }
        return changed;
    }

    private boolean change(Stored record, List<Stored> all, Batch batch, SplittableRandom random) throws IOException {
        switch (this) {
            case LOST -> batch.delete(Family.RECIPE, record.key);
            case HALF -> {
                if (Keys.longAt(record.key, Keys.LONG_BYTES) % 2 != 0) {
                    return false;
                }
                batch.delete(Family.RECIPE, record.key);
            }
            case FLIPPED -> {
                byte[] value = record.value.clone();
                value[random.nextInt(value.length)] ^= (byte) (1 << random.nextInt(8));
                batch.put(Family.RECIPE, record.key, value);
            }
            default -> {
                if (isHook(record)) {
                    return false;
                }
                Stored other;
                do {
                    other = all.get(random.nextInt(all.size()));
                } while (isHook(other));
                RecipePage page = RecipeFormat.decode(other.key, other.value, Integer.MAX_VALUE >> 2);
                RecipePage.Builder wrong = new RecipePage.Builder();
                for (int entry = 0; entry < page.count(); entry++) {
                    int prefix = page.fingerprintPrefix(random.nextInt(page.count()));
                    wrong.add(page.chunkId(entry), page.chunkOffset(entry), page.length(entry), prefix);
                }
                batch.put(Family.RECIPE, record.key, RecipeFormat.encode(record.key, wrong.build()));
            }
        }
        return true;
    }

    private static boolean isHook(Stored record) {
        return record.value[0] == StreamLogFormat.HOOK_VERSION;
    }
}
