package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.volume.care.ChunkSearch;
import org.opendedup.sar.volume.care.FoundChunk;

/** A stored chunk with its reference count, {@link HashChunk}, as commands and JMX show it under these stable names. */
public record ChunkFigures(
        @Figure(value = "Fingerprint, in hexadecimal", unit = "hexadecimal digits")
        String fingerprint,

        @Figure(value = "References to the chunk", unit = "references")
        int references,

        @Figure(value = "Bytes before compression", unit = "bytes")
        int lengthBytes,

        @Figure(value = "Container that has the chunk", unit = "container id")
        long container,

        @Figure(value = "Place of the chunk in the container", unit = "slot")
        int slot,

        @Figure(value = "Frame of the container that has the chunk; -1 if the container cannot be read", unit = "frame")
        int frame,

        @Figure(value = "File in the data location that has the container", unit = "pack")
        long pack,

        @Figure(value = "Whether a copy is on the SSD, or on its way there", unit = "true or false")
        boolean onSsd,

        @Figure(value = "Whether the chunk is known to be damaged, and not healed", unit = "true or false")
        boolean damaged) {

    /** Finds chunks by the first hexadecimal digits of their fingerprints, or all of them. */
    @FunctionalInterface
    public interface Search {
        /**
         * See {@link ChunkSearch#find}.
         *
         * @throws IllegalArgumentException if these are no digits of a fingerprint
         */
        ChunkSearch.Found find(String digits) throws IOException;
    }

    public static ChunkFigures of(FoundChunk found) {
        HashChunk chunk = found.chunk();
        return new ChunkFigures(
                found.fingerprint(),
                chunk.getCount(),
                chunk.getLength(),
                ChunkId.container(chunk.getChunkId()),
                ChunkId.slot(chunk.getChunkId()),
                found.frame(),
                found.pack(),
                found.isOnSsd(),
                found.isDamaged());
    }
}
