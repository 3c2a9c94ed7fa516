package org.opendedup.sar.hot.distributor;

/** A running read of the SSD, started by {@link DataDistributor#start}. */
public interface SsdRead {
    /**
     * Waits, but not longer than the patience for the request. Sets the source of chunks that failed or are not there
     * in time to HOME.
     *
     * @return whether every chunk sent to the SSD has its data now
     */
    boolean await();
}
