package org.opendedup.sar.common;

import java.util.HashMap;
import java.util.Map;

/**
 * A number of places that users share. A user other than root may have as many as are still free for all: alone up to
 * half of them, and a user who comes later still finds some. Safe for use by many threads.
 */
public final class FairShares {
    private static final int ROOT = 0;

    private final String what;
    private final int most;
    private int taken;
    private final Map<Integer, Integer> ofUsers = new HashMap<>();

    /**
     * @param what names the places, for messages
     * @param most how many there are
     */
    public FairShares(String what, int most) {
        this.what = what;
        this.most = most;
    }

    /** Takes a place. False if all are taken, or the user has too many of them. */
    public synchronized boolean tryTake(int user) {
        int left = most - taken;
        int own = ofUsers.getOrDefault(user, 0);
        if (left <= 0 || user != ROOT && own >= left) {
            return false;
        }
        taken++;
        ofUsers.put(user, own + 1);
        return true;
    }

    /** @throws PosixException ENFILE if all are taken, or the user has too many of them */
    public void take(int user) throws PosixException {
        if (!tryTake(user)) {
            throw new PosixException(
                    PosixException.Reason.ENFILE, "user " + user + " gets none of the " + most + " " + what);
        }
    }

    /** Gives a place back that a user had taken. */
    public synchronized void giveBack(int user) {
        taken--;
        ofUsers.computeIfPresent(user, (key, own) -> own == 1 ? null : own - 1);
    }
}
