package org.opendedup.sar.metadata;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;

/** Where a name stands in the listing of its directory. */
@FunctionalInterface
interface NameHash {
    /** Smaller hashes are not given out: as listing cookies they mean the beginning, {@code .} and {@code ..}. */
    long FIRST = 16;

    /** A number from {@link #FIRST} to {@link Long#MAX_VALUE}. */
    long of(byte[] name);

    /**
     * SipHash-2-4 (Aumasson, Bernstein: SipHash, a fast short-input PRF), of which the upper bit is dropped. With a key
     * nobody outside knows, names cannot be made to collide.
     */
    static NameHash sipHash(long key0, long key1) {
        HashFunction function = Hashing.sipHash24(key0, key1);
        return name -> {
            long hash = function.hashBytes(name).asLong() & Long.MAX_VALUE;
            return hash < FIRST ? hash + FIRST : hash;
        };
    }
}
