package org.opendedup.sar.restore;

import java.io.IOException;

/** Where restored bytes go. Called by several threads at once, in no order of the files. */
public interface PlaceWriter {
    /**
     * Writes {@code data[from .. from + length)}.
     *
     * @param file as it was given to {@link Places#add}
     * @param offset in that file
     */
    void write(long file, long offset, byte[] data, int from, int length) throws IOException;

    /** The bytes that belong there cannot be had; the restore goes on. */
    void damaged(long file, long offset, int length, IOException why);
}
