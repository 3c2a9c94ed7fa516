package org.opendedup.sar.common;

import org.jspecify.annotations.Nullable;

/** Looks for an exception among the causes of another. */
public final class Causes {
    private Causes() {}

    /** Returns whether an exception, or one of its causes, is of one of these types. */
    @SafeVarargs
    public static boolean include(@Nullable Throwable failure, Class<? extends Throwable>... types) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            for (Class<? extends Throwable> type : types) {
                if (type.isInstance(at)) {
                    return true;
                }
            }
        }
        return false;
    }
}
