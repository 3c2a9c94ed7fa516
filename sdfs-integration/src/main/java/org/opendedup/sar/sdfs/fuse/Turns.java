package org.opendedup.sar.sdfs.fuse;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A queue of tasks that serves users in rotation: each turn returns one task of one user. A user with many tasks does
 * not delay a user with few. Safe for use by many threads.
 */
public final class Turns<T> {
    /** Tasks by user ID, in the order of the users' turns; no queue in it is empty. Guarded by this. */
    private final Map<Integer, Queue<T>> waiting = new LinkedHashMap<>();

    /** Adds a task at the end of its user's queue. */
    public synchronized void add(int user, T thing) {
        waiting.computeIfAbsent(user, added -> new ArrayDeque<>()).add(thing);
    }

    /** Removes and returns the next task; null if there is none. */
    public synchronized @Nullable T poll() {
        Iterator<Map.Entry<Integer, Queue<T>>> turns = waiting.entrySet().iterator();
        if (!turns.hasNext()) {
            return null;
        }
        Map.Entry<Integer, Queue<T>> turn = turns.next();
        int user = turn.getKey();
        Queue<T> things = turn.getValue();
        T next = things.poll();
        turns.remove();
        if (!things.isEmpty()) {
            waiting.put(user, things);
        }
        return next;
    }
}
