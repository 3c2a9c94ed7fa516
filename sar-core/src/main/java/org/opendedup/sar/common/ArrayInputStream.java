package org.opendedup.sar.common;

import java.io.IOException;
import java.io.InputStream;

/** A stream that reads into arrays; a single byte is read into an array of one. */
public abstract class ArrayInputStream extends InputStream {
    @Override
    public final int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public abstract int read(byte[] target, int offset, int count) throws IOException;
}
