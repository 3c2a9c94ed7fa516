package org.opendedup.sar.common;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * How the fingerprints of a volume follow from the bytes of its chunks. A volume of files has SHA-256. A client that
 * computes fingerprints itself may use a function of fewer bytes, with a seed. Its fingerprints are stored with
 * {@value Fingerprints#BYTES} bytes all the same, and say how they were made: the client's bytes, zeros, the seed in
 * four bytes (little-endian), and a number for the function in the last byte. So whoever verifies a chunk needs nothing
 * but its fingerprint. A SHA-256 looks like one of those with a chance of 2 to the power of -86 at most. Immutable.
 *
 * @param seed begins the function; 0 if it takes none
 */
public record ContentHash(Function function, int seed) {
    /** The functions; the order is that of the stored format. */
    public enum Function {
        /** FIPS 180-4. */
        SHA_256(Fingerprints.BYTES),
        /** RFC 1321. */
        MD5(16),
        /** MurmurHash3_x64_128 of Austin Appleby; see {@link Murmur3}. */
        MURMUR3(16);

        private final int bytes;

        Function(int bytes) {
            this.bytes = bytes;
        }
    }

    public static final ContentHash SHA_256 = new ContentHash(Function.SHA_256, 0);
    public static final ContentHash MD5 = new ContentHash(Function.MD5, 0);

    private static final int SEED_AT = Fingerprints.BYTES - 5;
    private static final int FUNCTION_AT = Fingerprints.BYTES - 1;
    private static final Function[] FUNCTIONS = Function.values();
    private static final VarHandle INT_LE = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    public static ContentHash murmur3(int seed) {
        return new ContentHash(Function.MURMUR3, seed);
    }

    /** Returns how the fingerprint that begins at {@code at} was made. */
    public static ContentHash of(byte[] fingerprints, int at) {
        int function = fingerprints[at + FUNCTION_AT];
        if (function < 1 || function >= FUNCTIONS.length) {
            return SHA_256;
        }
        for (int i = FUNCTIONS[function].bytes; i < SEED_AT; i++) {
            if (fingerprints[at + i] != 0) {
                return SHA_256;
            }
        }
        return function == Function.MD5.ordinal() ? MD5 : new ContentHash(FUNCTIONS[function], seed(fingerprints, at));
    }

    /** Returns how a fingerprint was made. */
    public static ContentHash of(byte[] fingerprint) {
        return of(fingerprint, 0);
    }

    private static int seed(byte[] fingerprints, int at) {
        return (int) INT_LE.get(fingerprints, at + SEED_AT);
    }

    /** Returns the bytes of a fingerprint as the client has it. */
    public int bytes() {
        return function.bytes;
    }

    /**
     * Returns the fingerprint that is stored for one of the client.
     *
     * @throws IOException if it has another length; the message says which is wanted
     */
    public byte[] stored(byte[] ofClient) throws IOException {
        if (ofClient.length != function.bytes) {
            throw new IOException("a fingerprint has " + function.bytes + " bytes, the " + this + " of the chunk, not "
                    + ofClient.length);
        }
        if (function == Function.SHA_256) {
            return ofClient;
        }
        byte[] stored = Arrays.copyOf(ofClient, Fingerprints.BYTES);
        complete(stored, 0);
        return stored;
    }

    /** Adds to the client's bytes of a fingerprint what follows them. */
    void complete(byte[] fingerprints, int at) {
        if (function != Function.SHA_256) {
            Arrays.fill(fingerprints, at + function.bytes, at + SEED_AT, (byte) 0);
            INT_LE.set(fingerprints, at + SEED_AT, seed);
            fingerprints[at + FUNCTION_AT] = (byte) function.ordinal();
        }
    }

    /** Returns the client's bytes of the stored fingerprint that begins at {@code at}. */
    public static byte[] ofClient(byte[] fingerprints, int at) {
        return Arrays.copyOfRange(fingerprints, at, at + of(fingerprints, at).bytes());
    }

    /** Returns the usual name of the function. */
    @Override
    public String toString() {
        return switch (function) {
            case SHA_256 -> "SHA-256";
            case MD5 -> "MD5";
            case MURMUR3 -> "Murmur3 with the seed " + seed;
        };
    }
}
