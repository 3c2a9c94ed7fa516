package org.opendedup.sar.index;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.Fingerprints;

/** For controls: an index that takes fingerprints for the same if their first bytes are. */
public final class TruncatedIndex {
    private TruncatedIndex() {}

    /** @param bytes first bytes of a fingerprint that count */
    public static ChunkIndex over(ChunkIndex index, int bytes) {
        return (ChunkIndex) Proxy.newProxyInstance(
                ChunkIndex.class.getClassLoader(), new Class<?>[] {ChunkIndex.class}, (self, method, arguments) -> {
                    try {
                        method.setAccessible(true);
                        if (arguments == null || !(arguments[0] instanceof Segment segment)) {
                            return method.invoke(index, arguments);
                        }
                        Segment truncated = truncated(segment, bytes);
                        Object result = method.invoke(index, truncated);
                        if (method.getName().equals("lookup")) {
                            for (int i = 0; i < segment.count(); i++) {
                                segment.setHint(i, truncated.hint(i));
                            }
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Segment truncated(Segment segment, int bytes) {
        Segment made = new Segment(segment.data().length);
        for (int i = 0; i < segment.count(); i++) {
            int at = Segment.fingerprintOffset(i);
            made.add(segment.offset(i), segment.length(i), segment.isZero(i));
            made.setHint(i, segment.hint(i));
            made.setChunkId(i, segment.chunkId(i));
            made.setFresh(i, segment.isFresh(i));
            System.arraycopy(segment.fingerprints(), at, made.fingerprints(), at, bytes);
            Arrays.fill(made.fingerprints(), at + bytes, at + Fingerprints.BYTES, (byte) 0);
        }
        return made;
    }
}
