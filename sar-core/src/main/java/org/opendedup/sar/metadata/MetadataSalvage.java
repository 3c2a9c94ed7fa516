package org.opendedup.sar.metadata;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * Makes a new metadata database of the records of a damaged one that can be read (docs/adr/0043). In this order: copies
 * them; makes names and inodes agree, then recipes; counts all references again. The container table is not made anew:
 * that needs the packs. The damaged database is only read.
 */
public final class MetadataSalvage {
    /** Numbers that are not used after the highest one that is known: lost records may have had them. */
    private static final long SPARE_NUMBERS = 1 << 16;

    /** Opens older metadata of the same volume. */
    @FunctionalInterface
    public interface OlderMetadata {
        /** Returns the newest backup, which the caller of this method closes; null if there is none. */
        @Nullable
        KeyValueStore open() throws IOException;
    }

    /**
     * What was done.
     *
     * @param lost what the database has lost, as sentences
     * @param lostContainer id of a container that does not exist, to whose only chunk lost pages of recipes refer; 0 if
     *     no page is lost
     */
    public record Result(List<String> lost, long lostContainer) {
        public Result {
            lost = List.copyOf(lost);
        }
    }

    private MetadataSalvage() {}

    /**
     * Salvages a database.
     *
     * @param source folder with its files, which no one else uses
     * @param target an empty database
     * @param older where the records come from that describe the volume, if they are lost
     * @param nowNs times of inodes that must be made anew, in nanoseconds since 1970
     * @param progress may stop it; the target is of no use then
     * @throws CorruptionException if too much is lost: the manifest; or what describes the volume, and there is no
     *     backup
     */
    public static Result salvage(
            Path source,
            KeyValueStore target,
            ChunkLengths lengths,
            OlderMetadata older,
            long nowNs,
            SalvageProgress progress)
            throws IOException {
        LostRecords lost = RecordSalvage.copy(source, target, progress);
        if (!lost.of(Family.SYSTEM).isEmpty()) {
            takeDescription(target, older);
        }
        MetadataHeader header = SystemRecords.decodeHeader(SystemRecords.read(target, SystemRecords.HEADER));
        header.require(MetadataHeader.Contents.FILES);
        NameHash hash = SystemRecords.decodeNameHash(SystemRecords.read(target, SystemRecords.NAME_HASH));
        List<String> told = new ArrayList<>();
        SalvagedNames names = new SalvagedNames(target, hash, nowNs, lost, told);
        long freeInode = names.run(freeInode(target, lost), progress);
        long freeContainer = freeContainer(target, lost);
        SalvagedRecipes recipes =
                new SalvagedRecipes(target, header.pageBytes(), freeContainer, lost, names.remade(), told);
        recipes.run(names.inodes(), progress);
        new SalvagedIntents(target, lost, told).run();
        SalvagedCounts counts = new SalvagedCounts(target, header.pageBytes(), freeContainer, lengths);
        counts.run(lost, recipes.pages(), progress);
        try (Batch batch = target.batch()) {
            batch.put(Family.SYSTEM, SystemRecords.NEXT_INODE, SystemRecords.encodeNumber(freeInode));
            batch.put(Family.SYSTEM, SystemRecords.NEXT_CONTAINER, SystemRecords.encodeNumber(freeContainer + 1));
            Totals totals = new Totals(recipes.dataBytes(), recipes.inodes(), counts.stored());
            batch.put(Family.SYSTEM, SystemRecords.TOTALS, SystemRecords.encodeTotals(totals));
            batch.commit();
        }
        DamageRecords.recount(target);
        told.addAll(0, ranges(lost, counts));
        return new Result(told, recipes.lostPages() > 0 ? freeContainer : 0);
    }

    /**
     * Takes lost records that describe the volume from a backup. They never change, except that each mount adds one for
     * its epoch: a missing one only means that what was stored in it counts as another history's.
     */
    private static void takeDescription(KeyValueStore target, OlderMetadata older) throws IOException {
        try (KeyValueStore backup = older.open()) {
            if (backup != null) {
                takeDescription(target, backup);
            }
        }
        if (target.get(Family.SYSTEM, SystemRecords.HEADER) == null
                || target.get(Family.SYSTEM, SystemRecords.NAME_HASH) == null
                || !hasEpoch(target)) {
            throw new CorruptionException(
                    "metadata database",
                    -1,
                    "the records that describe the volume, here or in a backup",
                    "damaged ones; bring back another copy of the metadata");
        }
    }

    private static void takeDescription(KeyValueStore target, KeyValueStore backup) throws IOException {
        try (Cursor cursor = backup.scan(Family.SYSTEM, Keys.FIRST, Keys.END);
                Batch batch = target.batch()) {
            while (cursor.next()) {
                if (target.get(Family.SYSTEM, cursor.key()) == null) {
                    batch.put(Family.SYSTEM, cursor.key(), cursor.value());
                }
            }
            batch.commit();
        }
    }

    private static boolean hasEpoch(KeyValueStore target) throws IOException {
        try (Cursor cursor = target.scan(Family.SYSTEM, "epoch ".getBytes(US_ASCII), "epoch!".getBytes(US_ASCII))) {
            return cursor.next();
        }
    }

    private static long freeInode(KeyValueStore target, LostRecords lost) throws IOException {
        long highest = Inode.ROOT;
        for (Family family :
                List.of(Family.INODE, Family.RECIPE, Family.XATTR, Family.ORPHAN, Family.INTENT, Family.RAW)) {
            highest = Math.max(highest, highest(target, family));
        }
        try (Cursor cursor = target.scan(Family.ENTRY, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                try {
                    Entry entry = EntryFormat.decode(Keys.longAt(cursor.key(), 0), cursor.value());
                    highest = Math.max(highest, Math.max(entry.inode(), Keys.longAt(cursor.key(), 0)));
                } catch (IOException e) {
                    // It is removed later.
                    continue;
                }
            }
        }
        return Math.max(number(target, SystemRecords.NEXT_INODE), free(highest, lost));
    }

    private static long free(long highest, LostRecords lost) {
        return highest + 1 + (lost.isEmpty() ? 0 : SPARE_NUMBERS);
    }

    private static long freeContainer(KeyValueStore target, LostRecords lost) throws IOException {
        long[] highest = {Math.max(highest(target, Family.CONTAINER), highest(target, Family.COUNT))};
        int pageBytes = SystemRecords.decodeHeader(SystemRecords.read(target, SystemRecords.HEADER))
                .pageBytes();
        try (Cursor cursor = target.scan(Family.RECIPE, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                RecipePage page;
                try {
                    page = RecipeFormat.decode(cursor.key(), cursor.value(), pageBytes);
                } catch (IOException e) {
                    // It is removed later.
                    continue;
                }
                for (int entry = 0; entry < page.count(); entry++) {
                    if (!page.isZero(entry)) {
                        highest[0] = Math.max(highest[0], ChunkId.container(page.chunkId(entry)));
                    }
                }
            }
        }
        return Math.max(number(target, SystemRecords.NEXT_CONTAINER), free(highest[0], lost));
    }

    private static long number(KeyValueStore target, byte[] key) throws IOException {
        byte[] value = target.get(Family.SYSTEM, key);
        try {
            return value == null ? 0 : SystemRecords.decodeNumber(value);
        } catch (CorruptionException e) {
            return 0;
        }
    }

    /** Returns the highest number with which a key of the family begins; 0 if it has none. */
    private static long highest(KeyValueStore target, Family family) throws IOException {
        long low = 0;
        long high = Long.MAX_VALUE;
        while (low < high) {
            long middle = low + (high - low) / 2 + 1;
            try (Cursor cursor = target.scan(family, Keys.of(middle), Keys.END)) {
                if (cursor.next()) {
                    low = Keys.longAt(Arrays.copyOf(cursor.key(), Keys.LONG_BYTES), 0);
                } else {
                    high = middle - 1;
                }
            }
        }
        return low;
    }

    private static List<String> ranges(LostRecords lost, SalvagedCounts counts) {
        List<String> told = new ArrayList<>();
        if (lost.missingChanges() > 0) {
            told.add("the last " + lost.missingChanges() + " changes, which were only in the damaged log: files are as"
                    + " they were before them");
        }
        for (Family family : Family.values()) {
            for (LostRecords.Range range : lost.of(family)) {
                String numbers = range.first() + " to " + (range.last() == Long.MAX_VALUE ? "the last" : range.last());
                told.add(
                        switch (family) {
                            case SYSTEM -> "records of the volume as a whole; totals are counted anew";
                            case INODE -> "inodes from " + numbers + ", as far as they were in a damaged block";
                            case ENTRY ->
                                "names in folders with inodes " + numbers + ", as far as they were in a"
                                        + " damaged block";
                            case XATTR ->
                                "extended attributes of inodes " + numbers + ", as far as they were in a"
                                        + " damaged block";
                            case RECIPE -> "recipes of inodes " + numbers + ", as far as they were in a damaged block";
                            case COUNT -> "counts of containers " + numbers + "; they are counted anew";
                            case ORPHAN -> "which of inodes " + numbers + " are being removed";
                            case INTENT ->
                                "bytes of files with inodes " + numbers + " that were written within the last seconds,"
                                        + " as far as they were in a damaged block";
                            case RAW ->
                                "which of files with inodes " + numbers + " lie whole on the fast tier, as far as that"
                                        + " was in a damaged block";
                            case CONTAINER -> "places of containers " + numbers + "; they are found in the packs";
                        });
            }
        }
        if (counts.remade() > 0) {
            told.add("marks of damaged chunks of " + counts.remade() + " containers: reading or a scrub finds them"
                    + " again");
        }
        return told;
    }
}
