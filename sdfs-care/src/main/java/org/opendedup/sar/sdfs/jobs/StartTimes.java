package org.opendedup.sar.sdfs.jobs;

/** When jobs of a kind start by themselves. */
public interface StartTimes {
    /** Of jobs that start only on request. */
    StartTimes NEVER = new StartTimes() {
        @Override
        public String rule() {
            return "off";
        }

        @Override
        public String nextText() {
            return "";
        }
    };

    /** Returns the rule, for people; {@code off} if there is none. */
    String rule();

    /** Returns the next time in ISO 8601, with its offset from UTC; empty if there is none. */
    String nextText();
}
