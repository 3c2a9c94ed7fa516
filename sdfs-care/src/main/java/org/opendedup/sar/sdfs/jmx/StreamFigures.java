package org.opendedup.sar.sdfs.jmx;

import org.opendedup.sar.common.Figure;
import org.opendedup.sar.restore.lookahead.StreamStatus;

/**
 * A sequential reader of a volume: a line of {@code sdfscli VOLUME top}, and an element of {@code Readers} of
 * {@code type=Streams}. The names are stable.
 */
public record StreamFigures(
        @Figure(value = "Inode of the file, or of the folder through whose tree it goes", unit = "inode number")
        long inode,

        @Figure(value = "Offset that it has reached; in a tree, bytes of its files so far", unit = "bytes")
        long offset,

        @Figure(value = "Length of the file", unit = "bytes")
        long fileBytes,

        @Figure(value = "Bytes that it requested since reading ahead began", unit = "bytes")
        long readBytes,

        @Figure(value = "Time since reading ahead began", unit = "seconds")
        double seconds,

        @Figure(value = "Its speed, in millions of bytes", unit = "MB per second")
        double mbPerSecond,

        @Figure(value = "Containers read from for it; a container that is read again counts again", unit = "containers")
        long containerReads,

        @Figure(value = "Compressed bytes read from the disk for it", unit = "bytes")
        long diskBytes,

        @Figure(value = "Bytes of chunks read from the SSD for it", unit = "bytes")
        long ssdBytes,

        @Figure(value = "Bytes of chunks that were in memory", unit = "bytes")
        long memoryBytes,

        @Figure(value = "Bytes of chunks that are held in memory for it now", unit = "bytes")
        long heldBytes,

        @Figure(value = "Bytes read from the disk for each byte requested", unit = "ratio")
        double readAmplification) {
    public static StreamFigures of(StreamStatus reader) {
        return new StreamFigures(
                reader.inode(),
                reader.offset(),
                reader.size(),
                reader.readBytes(),
                reader.seconds(),
                reader.megabytesPerSecond(),
                reader.containerReads(),
                reader.diskBytes(),
                reader.ssdBytes(),
                reader.memoryBytes(),
                reader.heldBytes(),
                reader.readAmplification());
    }
}
