/**
 * The demo: a job on the flights out of New York in 2013 that names the ten worst planes of each
 * day. It knows nothing of Lava; {@code bin/demo} runs it on a cluster whose configuration does.
 */
package org.lavakv.demo;
