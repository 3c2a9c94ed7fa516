package org.opendedup.sar.sim.sar;

/** Joins consecutive places into one transfer of the array, as the block layer would. For one thread. */
final class PlaceRun {
    private final DiskPlaces places;
    private final boolean isWrite;
    private long first;
    private long count;

    PlaceRun(DiskPlaces places, boolean isWrite) {
        this.places = places;
        this.isWrite = isWrite;
    }

    /** Adds a place; one that neither follows nor repeats the last place begins a new transfer. */
    void add(long place, TransferSink sink) {
        if (count > 0 && place == first + count) {
            count++;
        } else if (count == 0 || place != first + count - 1) {
            flush(sink);
            first = place;
            count = 1;
        }
    }

    /** Ends the last transfer. */
    void flush(TransferSink sink) {
        if (count > 0) {
            places.emit(sink, isWrite, first, count);
            count = 0;
        }
    }
}
