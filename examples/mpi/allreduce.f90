! SPDX-License-Identifier: Apache-2.0
! An MPI program that reports its steps and phases: some computing, then a sum over all ranks.
!
!     mpif90 crosstalk_mark.f90 allreduce.f90 -lcrosstalk-mark -o allreduce
!     crosstalk run -- mpirun -n 2 ./allreduce
program allreduce
    use crosstalk_mark
    use mpi
    implicit none
    integer, parameter :: numbers = 65536
    double precision :: ours(numbers) = 0, all(numbers) = 0
    integer :: step, steps, pass, error
    character(len=16) :: word

    steps = 1000000
    if (command_argument_count() > 0) then
        call get_command_argument(1, word)
        read (word, *) steps
    end if
    call MPI_Init(error)
    do step = 1, steps
        call crosstalk_step()
        call crosstalk_phase("forward")
        do pass = 1, 50
            ours = ours * 0.999d0 + step
        end do
        call crosstalk_phase("wait_exchange")
        call MPI_Allreduce(ours, all, numbers, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    end do
    call crosstalk_end()
    print *, all(1)
    call MPI_Finalize(error)
end program
