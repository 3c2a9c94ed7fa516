package org.opendedup.sar.disk;

/**
 * What a copy on the SSD saves of the time of a hard disk, in whole numbers, as ranks are made of it. The figures are
 * those of {@link DiskModel#HDD}, whatever the device is: a rank that was stored stays comparable with later ones.
 */
public final class DiskCost {
    /**
     * Average seek and half a turn of a 7200 rpm disk, in microseconds (SAR paper §4.3: 13.29 ms for a random 4 KiB
     * read).
     */
    public static final int SEEK_MICROS = 13_100;
    /** Bytes such a disk transfers in a microsecond: 150 MB/s. */
    static final int BYTES_PER_MICRO = 150;
    /** Bytes that such a disk transfers in the time of a seek. */
    public static final long SEEK_BYTES = (long) SEEK_MICROS * BYTES_PER_MICRO;
    /** Number of bits that {@link #saving} fits in. */
    static final int SAVING_BITS = 16;

    private static final int MAX_SAVING = (1 << SAVING_BITS) - 1;

    private DiskCost() {}

    /**
     * Returns the disk time for each KiB of a request, in microseconds, at most {@value #MAX_SAVING}. A read saves this
     * time for each KiB that it finds on the SSD, if all of the request is there.
     *
     * @param requestBytes bytes wanted from one place of the disk, greater than 0
     */
    public static int saving(long requestBytes) {
        return saving(requestBytes, requestBytes);
    }

    /**
     * As {@link #saving(long)}, for a request that reads more than is wanted.
     *
     * @param wantedBytes bytes wanted of it, greater than 0
     * @param transferredBytes bytes the disk transfers for them
     */
    public static int saving(long wantedBytes, long transferredBytes) {
        long micros = SEEK_MICROS + transferredBytes / BYTES_PER_MICRO;
        return (int) Math.min(MAX_SAVING, micros * 1024 / wantedBytes);
    }
}
