package org.opendedup.sar.tier;

/**
 * Sends each chunk of a read to memory, SSD or home (SAR paper §3.2, §3.6), and reads from SSD and disk in parallel. Safe for use
 * by many threads.
 */
public final class DataDistributor {

    /** Whether splitting is of any use now: an SSD is attached and something is on it. */
    public boolean isActive() {
        throw new UnsupportedOperationException();
    }

    /**
     * Gives each chunk that is not in memory its source. A frame that must be read from home anyway, because one of the chunks
     * wanted of it has no copy, serves all chunks wanted of it.
     */
    public void split(ChunkRequest request) {
        throw new UnsupportedOperationException();
    }

    /** Starts to read what was sent to the SSD; the caller reads from home meanwhile, then awaits. */
    public SsdRead start(ChunkRequest request) {
        throw new UnsupportedOperationException();
    }

    /** A read of the SSD under way. */
    public interface SsdRead {
        /**
         * Waits, but not longer than the disk would need: what is not there in time, or fails, has its home as source afterwards.
         *
         * @return whether every chunk sent to the SSD has its data now
         */
        boolean await();
    }

    /** Notes a read from home: for the figures. */
    public void noteHome(int requests, long bytes, long nanos) {
        throw new UnsupportedOperationException();
    }

    public DistributorStatistics statistics() {
        throw new UnsupportedOperationException();
    }
}
