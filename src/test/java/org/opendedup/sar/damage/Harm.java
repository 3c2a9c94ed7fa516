package org.opendedup.sar.damage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;

/** What a disk, a cable or an administrator does to a file. */
enum Harm {
    FLIPPED_BIT,
    ZEROED_SECTOR,
    SWAPPED_SECTORS,
    OLDER_SECTOR,
    CUT_OFF;

    private static final int SECTOR_BYTES = 512;

    /**
     * Does it at a random place of a range.
     *
     * @param earlier an older state of the volume's folder
     * @return whether any byte changed
     */
    boolean doTo(Path volume, Path earlier, Part.Range range, SplittableRandom random) throws IOException {
        Path file = volume.resolve(range.path());
        byte[] before = Files.readAllBytes(file);
        byte[] bytes = before.clone();
        int at = (int) (range.from() + random.nextLong(range.length()));
        int sector = at / SECTOR_BYTES * SECTOR_BYTES;
        int end = Math.min(bytes.length, sector + SECTOR_BYTES);
        switch (this) {
            case FLIPPED_BIT -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case ZEROED_SECTOR -> Arrays.fill(bytes, sector, end, (byte) 0);
            case SWAPPED_SECTORS -> {
                int other = random.nextInt(bytes.length) / SECTOR_BYTES * SECTOR_BYTES;
                int length = Math.min(end - sector, bytes.length - other);
                System.arraycopy(before, other, bytes, sector, Math.min(length, SECTOR_BYTES));
                System.arraycopy(before, sector, bytes, other, Math.min(length, SECTOR_BYTES));
            }
            case OLDER_SECTOR -> {
                Path older = earlier.resolve(range.path());
                byte[] old = Files.exists(older) ? Files.readAllBytes(older) : new byte[0];
                if (sector < old.length) {
                    System.arraycopy(old, sector, bytes, sector, Math.min(end, old.length) - sector);
                }
            }
            case CUT_OFF -> bytes = Arrays.copyOf(bytes, at);
        }
        if (Arrays.equals(before, bytes)) {
            return false;
        }
        Files.write(file, bytes);
        return true;
    }
}
