package org.opendedup.sar.metadata.record;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;

/** Computes a name's position in the listing of its directory. */
@FunctionalInterface
public interface NameHash {
    /**
     * The smallest hash. Smaller numbers have other meanings as listing cookies: the beginning, {@code .} and
     * {@code ..}.
     */
    long FIRST = 16;

    /**
     * Returns a number from {@link #FIRST} to {@link Long#MAX_VALUE}.
     *
     * @param directory the directory that has the name
     */
    long of(long directory, byte[] name);

    /**
     * Returns SipHash-2-4 (Aumasson, Bernstein: SipHash, a fast short-input PRF), without its upper bit. With a secret
     * key, names cannot be chosen so that they collide.
     */
    static NameHash sipHash(long key0, long key1) {
        HashFunction function = Hashing.sipHash24(key0, key1);
        return (directory, name) -> position(function.hashBytes(name).asLong());
    }

    /** As {@link #sipHash}, of directory and name: whoever sees the hashes does not see which names are equal. */
    static NameHash sipHashOfPlace(long key0, long key1) {
        HashFunction function = Hashing.sipHash24(key0, key1);
        return (directory, name) ->
                position(function.hashBytes(Keys.of(directory, name)).asLong());
    }

    private static long position(long random) {
        long hash = random & Long.MAX_VALUE;
        return hash < FIRST ? hash + FIRST : hash;
    }
}
