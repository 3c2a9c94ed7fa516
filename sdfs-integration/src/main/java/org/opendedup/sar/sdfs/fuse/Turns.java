package org.opendedup.sar.sdfs.fuse;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Things to do for users, each of whom gets a turn after the other: one with many waits for nobody but holds up nobody either. */
public final class Turns<T> {
    /** By user, in the order of their turns; none of the queues is empty. Guarded by this. */
    private final Map<Integer, Queue<T>> waiting = new LinkedHashMap<>();

    public synchronized void add(int user, T thing) {
        waiting.computeIfAbsent(user, added -> new ArrayDeque<>()).add(thing);
    }

    /** The next thing; null if there is none. */
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
