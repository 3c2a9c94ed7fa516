package org.opendedup.sar.restore.bulk;

import java.io.IOException;

/** Destination of restored bytes. Called by several threads at once, in no order of the files. */
public interface PlaceWriter {
    /**
     * Writes {@code data[from .. from + length)}.
     *
     * @param file number of the file, as passed to {@link Places#add}
     * @param offset offset in that file, in bytes
     */
    void write(long file, long offset, byte[] data, int from, int length) throws IOException;

    /** Notes bytes of a file that cannot be restored; the restore continues. */
    void damaged(long file, long offset, int length, IOException why);
}
