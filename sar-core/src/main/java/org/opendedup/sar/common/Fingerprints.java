package org.opendedup.sar.common;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * Fingerprints: the SHA-256 of a chunk's bytes, {@value #BYTES} bytes; those of clients with another function have the
 * same length ({@link ContentHash}). On the hot paths, many lie one after another in a {@code byte[]}; a fingerprint is
 * then that array and the offset of its first byte.
 */
public final class Fingerprints {
    public static final int BYTES = 32;

    private static final VarHandle INT_LE = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private Fingerprints() {}

    /**
     * Returns the first four bytes of a fingerprint, little-endian; a recipe stores them to check the chunks that it
     * reads.
     */
    public static int fingerprintPrefix(byte[] fingerprints, int offset) {
        return (int) INT_LE.get(fingerprints, offset);
    }

    public static String toHex(byte[] fingerprints, int offset) {
        return HexFormat.of().formatHex(fingerprints, offset, offset + BYTES);
    }
}
