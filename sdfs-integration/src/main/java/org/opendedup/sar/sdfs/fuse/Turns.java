package org.opendedup.sar.sdfs.fuse;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Things to do for users, who get their turns in rotation: each turn is for one thing of one user. So a user with many things does not
 * hold up one with few. Safe for use by many threads.
 */
public final class Turns<T> {
    /** By user, in the order of their turns; none of the queues is empty. Guarded by this. */
    private final Map<Integer, Queue<T>> waiting = new LinkedHashMap<>();

    /** Puts a thing behind all others of its user. */
    public synchronized void add(int user, T thing) {
        waiting.computeIfAbsent(user, added -> new ArrayDeque<>()).add(thing);
    }

    /** Takes the next thing out; null if there is none. */
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
