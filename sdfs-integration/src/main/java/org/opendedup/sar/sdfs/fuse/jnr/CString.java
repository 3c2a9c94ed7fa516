package org.opendedup.sar.sdfs.fuse.jnr;

import jnr.ffi.Pointer;

/** Reads C strings. */
final class CString {
    private CString() {}

    /** Returns the bytes before the terminator. */
    static byte[] bytes(Pointer string) {
        byte[] bytes = new byte[string.indexOf(0, (byte) 0)];
        string.get(0, bytes, 0, bytes.length);
        return bytes;
    }
}
