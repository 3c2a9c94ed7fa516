package org.opendedup.sar.common;

import java.io.IOException;
import java.util.Arrays;

/**
 * How the fingerprints of a volume follow from the bytes of its chunks. A volume of files has SHA-256. A client that
 * computes fingerprints itself may use a function of fewer bytes. Its fingerprints are stored with
 * {@value Fingerprints#BYTES} bytes all the same, and say how they were made: the client's bytes, zeros, and a number
 * for the function in the last byte. So whoever verifies a chunk needs nothing but its fingerprint. A SHA-256 looks
 * like one of those with a chance of 2 to the power of -128. The order of the constants is that of the stored format.
 */
public enum ContentHash {
    /** FIPS 180-4. */
    SHA_256("SHA-256", Fingerprints.BYTES),
    /** RFC 1321. */
    MD5("MD5", 16);

    private static final int FUNCTION_AT = Fingerprints.BYTES - 1;

    private final String usualName;
    private final int bytes;

    ContentHash(String usualName, int bytes) {
        this.usualName = usualName;
        this.bytes = bytes;
    }

    /** Returns how the fingerprint that begins at {@code at} was made. */
    public static ContentHash of(byte[] fingerprints, int at) {
        if (fingerprints[at + FUNCTION_AT] != MD5.ordinal()) {
            return SHA_256;
        }
        for (int i = MD5.bytes; i < FUNCTION_AT; i++) {
            if (fingerprints[at + i] != 0) {
                return SHA_256;
            }
        }
        return MD5;
    }

    /** Returns how a fingerprint was made. */
    public static ContentHash of(byte[] fingerprint) {
        return of(fingerprint, 0);
    }

    /** Returns the bytes of a fingerprint as the client has it. */
    public int bytes() {
        return bytes;
    }

    /**
     * Returns the fingerprint that is stored for one of the client.
     *
     * @throws IOException if it has another length; the message says which is wanted
     */
    public byte[] stored(byte[] ofClient) throws IOException {
        if (ofClient.length != bytes) {
            throw new IOException(
                    "a fingerprint has " + bytes + " bytes, the " + this + " of the chunk, not " + ofClient.length);
        }
        if (this == SHA_256) {
            return ofClient;
        }
        byte[] stored = Arrays.copyOf(ofClient, Fingerprints.BYTES);
        complete(stored, 0);
        return stored;
    }

    /** Adds to the client's bytes of a fingerprint what follows them. */
    void complete(byte[] fingerprints, int at) {
        if (this != SHA_256) {
            Arrays.fill(fingerprints, at + bytes, at + FUNCTION_AT, (byte) 0);
            fingerprints[at + FUNCTION_AT] = (byte) ordinal();
        }
    }

    /** Returns the client's bytes of the stored fingerprint that begins at {@code at}. */
    public static byte[] ofClient(byte[] fingerprints, int at) {
        return Arrays.copyOfRange(fingerprints, at, at + of(fingerprints, at).bytes());
    }

    /** Returns the usual name of the function. */
    @Override
    public String toString() {
        return usualName;
    }
}
