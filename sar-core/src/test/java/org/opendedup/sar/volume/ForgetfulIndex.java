package org.opendedup.sar.volume;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.index.ChunkIndex;

/** Makes an index find nothing for a time, as a near-exact one does at times. */
final class ForgetfulIndex {
    private volatile boolean forgets;

    /** Sets whether no look-up finds anything from now on. What is inserted is kept nevertheless. */
    void setForgets(boolean now) {
        forgets = now;
    }

    ChunkIndex of(ChunkIndex index) {
        return (ChunkIndex) Proxy.newProxyInstance(
                ChunkIndex.class.getClassLoader(), new Class<?>[] {ChunkIndex.class}, (self, method, arguments) -> {
                    if (forgets && method.getName().equals("lookup")) {
                        Segment segment = (Segment) arguments[0];
                        for (int chunk = 0; chunk < segment.count(); chunk++) {
                            segment.setHint(chunk, ChunkId.NONE);
                        }
                        return null;
                    }
                    if (method.getName().equals("exactness")) {
                        return ChunkIndex.Exactness.NEAR_EXACT;
                    }
                    try {
                        method.setAccessible(true);
                        return method.invoke(index, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
