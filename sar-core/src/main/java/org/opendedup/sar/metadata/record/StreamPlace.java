package org.opendedup.sar.metadata.record;

/**
 * A page of a stream's log.
 *
 * @param log the log's number
 * @param page the page's number in it, from 0 up
 */
public record StreamPlace(long log, long page) {
    static final StreamPlace FIRST = new StreamPlace(0, 0);

    public boolean isBefore(StreamPlace other) {
        return log < other.log || log == other.log && page < other.page;
    }
}
